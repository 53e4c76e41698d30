/* Found through the RUNPATH of by_bare_name.c alone. */
int torchtrace_test_hidden(void) { return 1; }
