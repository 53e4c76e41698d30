/* Stands for torch/_C: needs libtorch_cpu, which needs a library that opens another in its
 * constructor. Asked when the outermost dlopen has returned. */
int fake_libtorch_state(void);

int answer(void) { return fake_libtorch_state(); }
