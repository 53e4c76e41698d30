"""tools/ci/check_hot_path itself: what it is there for has to be found."""

import shutil
import subprocess

from support.paths import SOURCE

CHECK = SOURCE / "tools" / "ci" / "check_hot_path"

# Functions named as those of the op path, in a library that is all right.
GOOD = """
#include <atomic>
namespace torchtrace::observer {
struct ScopeContext {
  virtual ~ScopeContext();
  static void operator delete(void*) noexcept {}
};
__attribute__((noinline)) void start_carefully();
__attribute__((noinline)) void end_carefully();
namespace {
std::atomic<int> g_count;
template <int abi> void on_start(bool rare) { if (rare) start_carefully(); HERE_START }
template <int abi> void on_end(bool rare) { if (rare) end_carefully(); }
}
void start_carefully() { asm volatile(""); }
void end_carefully() { asm volatile(""); }
void start_user_scope() { HERE_SCOPE }
void end_user_scope() { ++g_count; }
ScopeContext::~ScopeContext() = default;
extern void unexpected();
void (*callbacks[])(bool) = {on_start<0>, on_end<0>};
}
void unexpected() { asm volatile(""); }
"""


def check(folder, start="", scope=""):
    """The check's exit code and words for the library with these lines in it."""
    source, library = folder / "path.cpp", folder / "path.so"
    text = GOOD.replace("HERE_START", start).replace("HERE_SCOPE", scope)
    source.write_text("void unexpected() __attribute__((noinline));\n" + text, encoding="utf-8")
    compiler = shutil.which("c++")
    options = ["-std=c++17", "-O2", "-fPIC", "-shared"]
    subprocess.run([compiler, *options, "-o", library, source], check=True)
    done = subprocess.run([CHECK, library], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def store_then_load(stored, loaded):
    """8 bytes written at one distance, 16 bytes read at another."""
    return (
        f'asm volatile("movq %%rax, {stored}(%0); movdqu {loaded}(%0), %%xmm1"'
        ' :: "r"(&g_count) : "xmm1");'
    )


def test_rare_calls_that_are_known_pass(tmp_path):
    assert check(tmp_path) == (0, "")


def test_a_locked_instruction_is_named(tmp_path):
    code, words = check(tmp_path, start="++g_count;")
    assert code == 1
    assert "on_start: locked instruction: lock" in words


def test_an_exchange_is_locked_too(tmp_path):
    code, words = check(tmp_path, start="g_count.exchange(1);")
    assert code == 1
    assert "on_start: locked instruction: xchg" in words


def test_a_wide_load_after_a_narrower_store_is_named(tmp_path):
    code, words = check(tmp_path, start=store_then_load(0x18, 0x10))
    assert code == 1
    assert "on_start: wide load after a narrower store: movdqu 0x10(" in words


def test_a_wide_load_of_something_else_passes(tmp_path):
    assert check(tmp_path, start=store_then_load(0x18, 0x20)) == (0, "")


def test_an_unknown_call_is_named(tmp_path):
    code, words = check(tmp_path, start="::unexpected(); ::unexpected();")
    assert code == 1
    assert "on_start: call to unexpected" in words


def test_a_tail_call_is_a_call(tmp_path):
    code, words = check(tmp_path, scope="::unexpected();")
    assert code == 1
    assert "start_user_scope: jmp to unexpected" in words


def test_a_function_that_is_not_there_is_named(tmp_path):
    done = subprocess.run(
        [CHECK, shutil.which("true")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "on_end: not found" in done.stdout
