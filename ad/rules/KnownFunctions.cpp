// Known functions by name: allocators, memory functions, functions without a
// derivative.
//
// A function that writes floats or pointers to memory that may be active, or
// returns such pointers, is never listed as without derivative. Functions on
// strings of characters are.
#include "ad/rules/Calls.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/Function.h"

using namespace llvm;
using namespace adjoin;

namespace {

struct Entry {
  StringLiteral Name;
  CallClass::Kind K;
  int Pointer, Source, Size, Size2;
  bool Zeroed = false;
};

/// Functions that allocate, free, copy and fill: by exact name.
constexpr Entry MemoryFunctions[] = {
    // name, kind, pointer, source, size, second factor of the size
    {"malloc", CallClass::Allocate, -1, -1, 0, -1},
    {"calloc", CallClass::Allocate, -1, -1, 0, 1, true},
    {"aligned_alloc", CallClass::Allocate, -1, -1, 1, -1},
    {"memalign", CallClass::Allocate, -1, -1, 1, -1},
    {"valloc", CallClass::Allocate, -1, -1, 0, -1},
    {"pvalloc", CallClass::Allocate, -1, -1, 0, -1},
    {"posix_memalign", CallClass::Allocate, 0, -1, 2, -1},
    {"strdup", CallClass::Allocate, -1, -1, -1, -1},
    {"strndup", CallClass::Allocate, -1, -1, -1, -1},
    {"__strdup", CallClass::Allocate, -1, -1, -1, -1},
    {"realloc", CallClass::Reallocate, 0, -1, 1, -1},
    {"reallocarray", CallClass::Reallocate, 0, -1, 1, 2},
    {"free", CallClass::Free, 0, -1, -1, -1},
    {"cfree", CallClass::Free, 0, -1, -1, -1},
    {"free_sized", CallClass::Free, 0, -1, -1, -1},
    {"free_aligned_sized", CallClass::Free, 0, -1, -1, -1},
    {"__rust_alloc", CallClass::Allocate, -1, -1, 0, -1},
    {"__rust_alloc_zeroed", CallClass::Allocate, -1, -1, 0, -1, true},
    {"__rust_dealloc", CallClass::Free, 0, -1, -1, -1},
    {"__rust_realloc", CallClass::Reallocate, 0, -1, 3, -1},
    {"memcpy", CallClass::Transfer, 0, 1, 2, -1},
    {"memmove", CallClass::Transfer, 0, 1, 2, -1},
    {"mempcpy", CallClass::Transfer, 0, 1, 2, -1},
    {"__mempcpy", CallClass::Transfer, 0, 1, 2, -1},
    {"__memcpy_chk", CallClass::Transfer, 0, 1, 2, -1},
    {"__memmove_chk", CallClass::Transfer, 0, 1, 2, -1},
    {"__mempcpy_chk", CallClass::Transfer, 0, 1, 2, -1},
    {"bcopy", CallClass::Transfer, 1, 0, 2, -1},
    {"memset", CallClass::Fill, 0, 1, 2, -1},
    {"__memset_chk", CallClass::Fill, 0, 1, 2, -1},
    {"explicit_memset", CallClass::Fill, 0, 1, 2, -1},
    {"bzero", CallClass::Fill, 0, -1, 1, -1},
    {"explicit_bzero", CallClass::Fill, 0, -1, 1, -1},
    // Bytes from outside the program.
    {"fread", CallClass::Fill, 0, -1, 1, 2},
    {"fread_unlocked", CallClass::Fill, 0, -1, 1, 2},
    {"read", CallClass::Fill, 1, -1, 2, -1},
    {"pread", CallClass::Fill, 1, -1, 2, -1},
    {"pread64", CallClass::Fill, 1, -1, 2, -1},
    {"recv", CallClass::Fill, 1, -1, 2, -1},
    {"getrandom", CallClass::Fill, 0, -1, 1, -1},
    {"getentropy", CallClass::Fill, 0, -1, 1, -1},
};

/// Functions of C libraries that carry no derivative, separated by blanks.
constexpr StringLiteral InactiveFunctions[] = {
    // Output, and what it needs.
    "printf fprintf vprintf vfprintf dprintf vdprintf sprintf snprintf "
    "vsprintf vsnprintf __printf_chk __fprintf_chk __vprintf_chk "
    "__vfprintf_chk __sprintf_chk __snprintf_chk __vsprintf_chk "
    "__vsnprintf_chk puts fputs putc fputc putchar putc_unlocked "
    "fputc_unlocked putchar_unlocked fputs_unlocked fwrite fwrite_unlocked "
    "fflush fflush_unlocked perror write pwrite pwrite64 send putw syslog "
    "wprintf fwprintf swprintf putwc putwchar fputwc fputws _IO_putc",
    // Input of characters, and files.
    "getc fgetc getchar getc_unlocked ungetc fgets _IO_getc __uflow "
    "__overflow fopen fopen64 fdopen freopen fclose fseek fseeko fseeko64 "
    "ftell ftello ftello64 rewind feof ferror clearerr fileno setbuf setvbuf "
    "setlinebuf flockfile funlockfile open open64 openat close lseek lseek64 "
    "fsync fdatasync unlink remove rename mkdir rmdir chdir access isatty dup "
    "dup2 ioctl fcntl poll tmpfile mkstemp truncate ftruncate ftruncate64 "
    "opendir closedir",
    // Strings of characters.
    "strlen strnlen strcmp strncmp strcasecmp strncasecmp strcoll strxfrm "
    "strcpy strncpy strcat strncat stpcpy stpncpy strlcpy strlcat strchr "
    "strrchr strchrnul strstr strcasestr strspn strcspn strpbrk strtok "
    "strtok_r strsep index rindex memcmp bcmp memchr memrchr rawmemchr memmem "
    "__strcpy_chk __strncpy_chk __strcat_chk __strncat_chk __stpcpy_chk "
    "strerror strerror_r __xpg_strerror_r strsignal wcslen wcscmp wcscpy "
    "wcsncpy wmemcpy wmemmove wmemset wmemcmp wmemchr wcschr mbstowcs "
    "wcstombs mbrtowc wcrtomb mbsrtowcs wcsrtombs mbrlen btowc wctob",
    "isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct "
    "isspace isupper isxdigit isascii tolower toupper __ctype_b_loc "
    "__ctype_tolower_loc __ctype_toupper_loc __ctype_get_mb_cur_max",
    // Numbers out of strings carry no derivative.
    "strtod strtof strtold strtof128 atof strtol strtoul strtoll strtoull "
    "strtoimax strtoumax atoi atol atoll nan nanf nanl __isoc23_strtol "
    "__isoc23_strtoul __isoc23_strtoll __isoc23_strtoull __strtod_internal "
    "__strtol_internal __strtoul_internal",
    // Integers out of floats.
    "ilogb ilogbf ilogbl llogb llogbf llogbl lrint lrintf lrintl llrint "
    "llrintf llrintl lround lroundf lroundl llround llroundf llroundl "
    "__fpclassify __fpclassifyf __fpclassifyl __isnan __isnanf __isnanl "
    "__isinf __isinff __isinfl __finite __finitef __finitel __signbit "
    "__signbitf __signbitl __issignaling isnan isnanf isnanl isinf isinff "
    "isinfl finite finitef finitel",
    // Random numbers, time, environment.
    "rand rand_r srand random srandom drand48 erand48 lrand48 nrand48 mrand48 "
    "srand48 arc4random time clock clock_gettime clock_getres gettimeofday "
    "times difftime mktime timegm localtime localtime_r gmtime gmtime_r ctime "
    "ctime_r asctime strftime nanosleep clock_nanosleep usleep sleep "
    "sched_yield getenv secure_getenv setenv unsetenv putenv getpid gettid "
    "getuid geteuid getppid sysconf getrusage getcwd realpath getpagesize "
    "sched_getaffinity sched_getcpu get_nprocs gethostname uname setlocale "
    "localeconv newlocale uselocale freelocale nl_langinfo isatty alarm "
    "raise getauxval malloc_usable_size mallopt malloc_trim",
    // errno, floating-point environment, program end.
    "__errno_location feclearexcept fegetenv fegetexceptflag fegetround "
    "feholdexcept feraiseexcept fesetenv fesetexceptflag fesetround "
    "fetestexcept feupdateenv feenableexcept fedisableexcept fegetexcept "
    "atexit at_quick_exit __cxa_atexit __cxa_thread_atexit "
    "__cxa_thread_atexit_impl",
    // Locks.
    "pthread_mutex_init pthread_mutex_destroy pthread_mutex_lock "
    "pthread_mutex_trylock pthread_mutex_unlock pthread_mutexattr_init "
    "pthread_mutexattr_destroy pthread_mutexattr_settype pthread_rwlock_init "
    "pthread_rwlock_destroy pthread_rwlock_rdlock pthread_rwlock_wrlock "
    "pthread_rwlock_tryrdlock pthread_rwlock_trywrlock pthread_rwlock_unlock "
    "pthread_cond_init pthread_cond_destroy pthread_cond_signal "
    "pthread_cond_broadcast pthread_cond_wait pthread_cond_timedwait "
    "pthread_spin_init pthread_spin_lock pthread_spin_unlock pthread_self "
    "pthread_equal pthread_key_create pthread_key_delete sem_init sem_destroy "
    "sem_wait sem_post sem_trywait mtx_init mtx_lock mtx_unlock mtx_trylock "
    "mtx_destroy __gthread_active_p __pthread_key_create",
    // OpenMP queries.
    "omp_get_num_threads omp_get_thread_num omp_get_max_threads "
    "omp_set_num_threads omp_get_num_procs omp_get_wtime omp_get_wtick "
    "omp_in_parallel omp_get_level omp_set_dynamic omp_get_dynamic "
    "omp_init_lock omp_destroy_lock omp_set_lock omp_unset_lock omp_test_lock",
    // C++ runtime. What an exception object holds is in memory without shadow.
    "__cxa_guard_acquire __cxa_guard_release __cxa_guard_abort "
    "__cxa_allocate_exception __cxa_free_exception __cxa_begin_catch "
    "__cxa_end_catch __cxa_get_exception_ptr __cxa_current_exception_type "
    "__cxa_uncaught_exceptions __cxa_get_globals __cxa_demangle "
    "_ZSt18uncaught_exceptionv _ZSt19uncaught_exceptionsv "
    "_ZNSt9exceptionD2Ev _ZNSt9exceptionD1Ev _ZNSt8bad_castD1Ev "
    "_ZNKSt9exception4whatEv _ZSt15get_new_handlerv",
    // Hash tables: numbers of buckets.
    "_ZSt11_Hash_bytesPKvmm _ZSt15_Fnv_hash_bytesPKvmm "
    "_ZNKSt8__detail20_Prime_rehash_policy11_M_next_bktEm "
    "_ZNKSt8__detail20_Prime_rehash_policy14_M_need_rehashEmmm",
    // Rust.
    "__rust_no_alloc_shim_is_unstable __rust_no_alloc_shim_is_unstable_v2 "
    "rust_eh_personality __gxx_personality_v0 __gcc_personality_v0",
};

/// Functions that do not return and are often declared without saying so.
constexpr StringLiteral NoReturnFunctions =
    "abort exit _exit _Exit quick_exit __assert_fail __assert_perror_fail "
    "__assert_rtn __assert __stack_chk_fail __chk_fail __fortify_fail "
    "__cxa_throw __cxa_rethrow __cxa_bad_cast __cxa_bad_typeid "
    "__cxa_throw_bad_array_new_length __cxa_call_unexpected "
    "__cxa_call_terminate __cxa_pure_virtual __cxa_deleted_virtual "
    "_Unwind_Resume _Unwind_Resume_or_Rethrow __clang_call_terminate "
    "_ZSt9terminatev _ZSt10unexpectedv pthread_exit thrd_exit err errx verr "
    "verrx __libc_fatal";

/// Output streams of libstdc++ and libc++ and their formatting: what a
/// function writes goes to the stream. Beginnings of mangled names. Input
/// streams (_ZNSi) write into the program's variables and are not here.
constexpr StringLiteral InactivePrefixes[] = {
    "_ZNSo", "_ZNKSo",
    // operator<< of basic_ostream and __ostream_insert, endl, flush
    "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_E",
    "_ZStlsIcSt11char_traitsIcE", "_ZSt16__ostream_insertI", "_ZSt4endlI",
    "_ZSt5flushI", "_ZSt4endsI", "_ZNSt8ios_base", "_ZNKSt8ios_base",
    "_ZNSt9basic_iosI", "_ZNKSt9basic_iosI", "_ZNSt6locale", "_ZNKSt6locale",
    "_ZNKSt5ctypeI", "_ZNSt5ctypeI", "_ZSt9use_facetI", "_ZSt9has_facetI",
    "_ZNSt14basic_ofstreamI", "_ZNSt13basic_filebufI",
    "_ZNSt15basic_streambufI", "_ZNSt12__basic_file",
    "_ZNSt3__113basic_ostreamI", "_ZNSt3__18ios_base", "_ZNKSt3__18ios_base",
    "_ZNSt3__16locale", "_ZNKSt3__16locale",
    // The allocator of characters is empty; strings that are only read.
    "_ZNSaIcE", "_ZNKSt7__cxx1112basic_string",
    // Exception objects: memory without a shadow.
    "_ZNSt13runtime_error", "_ZNKSt13runtime_error", "_ZNSt11logic_error",
    "_ZNKSt11logic_error", "_ZNSt12domain_error", "_ZNSt16invalid_argument",
    "_ZNSt12length_error", "_ZNSt12out_of_range", "_ZNSt11range_error",
    "_ZNSt14overflow_error", "_ZNSt15underflow_error", "_ZNSt9bad_alloc",
    "_ZNKSt9bad_alloc", "_ZNSt8bad_cast", "_ZNKSt8bad_cast",
    "_ZNSt10bad_typeid", "_ZNKSt10bad_typeid", "_ZNSt9exceptionD",
    // Clocks.
    "_ZNSt6chrono3_V212system_clock3nowEv",
    "_ZNSt6chrono3_V212steady_clock3nowEv", "_ZNSt3__16chrono12system_clock",
    "_ZNSt3__16chrono12steady_clock"};

/// Paths of Rust functions, as they stand in both manglings: print to a stream
/// or into characters, whatever their arguments.
constexpr StringLiteral InactiveRustPaths[] = {
    "4core3fmt5write", "3std2io5stdio6_print", "3std2io5stdio7_eprint",
    "3std2io4Write9write_fmt"};

/// Of Rust functions that end in a panic or an abort.
constexpr StringLiteral NoReturnRustPaths[] = {
    "4core9panicking",
    "3std9panicking",
    "4core6option13unwrap_failed",
    "4core6option13expect_failed",
    "4core6result13unwrap_failed",
    "5alloc5alloc18handle_alloc_error",
    "5alloc7raw_vec17capacity_overflow",
    "5alloc7raw_vec12handle_error",
    "4core3str16slice_error_fail",
    "3std7process5abort",
    "3std7process4exit"};

/// Rust's allocator symbols are mangled since 1.87:
/// "…7___rustc12___rust_alloc".
StringRef withoutRustMangling(StringRef Name) {
  if (!Name.starts_with("_R"))
    return Name;
  size_t At = Name.find("7___rustc");
  if (At == StringRef::npos)
    return Name;
  StringRef Rest = Name.drop_front(At + 9).drop_while(
      [](char C) { return C >= '0' && C <= '9'; });
  // An identifier that starts with "_" is set off by one more.
  Rest.consume_front("_");
  return Rest;
}

/// \p Path is in the mangled \p Name, and ends where an identifier ends.
bool hasRustPath(StringRef Name, StringRef Path, bool Whole) {
  size_t At = Name.find(Path);
  if (At == StringRef::npos)
    return false;
  StringRef Rest = Name.drop_front(At + Path.size());
  return !Whole || Rest.empty() || Rest.starts_with("17h") ||
         Rest.starts_with(".");
}

const StringMap<const Entry *> &memoryFunctions() {
  static const StringMap<const Entry *> Map = [] {
    StringMap<const Entry *> M;
    for (const Entry &E : MemoryFunctions)
      M[E.Name] = &E;
    return M;
  }();
  return Map;
}

StringSet<> wordsOf(ArrayRef<StringLiteral> Lists) {
  StringSet<> Words;
  for (StringRef List : Lists) {
    SmallVector<StringRef, 64> Split;
    List.split(Split, ' ', -1, /*KeepEmpty=*/false);
    for (StringRef Word : Split)
      Words.insert(Word);
  }
  return Words;
}

CallClass classOf(const Entry &E, const Function &F) {
  CallClass C;
  // Another function of that name?
  for (int Arg : {E.Pointer, E.Source, E.Size, E.Size2})
    if (Arg >= static_cast<int>(F.arg_size()))
      return C;
  for (int Arg : {E.Pointer, E.K == CallClass::Transfer ? E.Source : -1})
    if (Arg >= 0 && !F.getArg(Arg)->getType()->isPointerTy())
      return C;
  for (int Arg : {E.Size, E.Size2})
    if (Arg >= 0 && !F.getArg(Arg)->getType()->isIntegerTy())
      return C;
  C.K = E.K;
  C.PointerArg = E.Pointer;
  C.SourceArg = E.Source;
  C.SizeArg = E.Size;
  C.SizeArg2 = E.Size2;
  C.ZeroedMemory = E.Zeroed;
  return C;
}

/// Operator new and delete in all forms: the size, or the pointer, is first.
CallClass classOfOperator(StringRef Name, const Function &F) {
  CallClass C;
  if (F.arg_empty())
    return C;
  Type *First = F.getArg(0)->getType();
  if ((Name.starts_with("_Znw") || Name.starts_with("_Zna")) &&
      First->isIntegerTy()) {
    C.K = CallClass::Allocate;
    C.SizeArg = 0;
  } else if ((Name.starts_with("_Zdl") || Name.starts_with("_Zda")) &&
             First->isPointerTy()) {
    C.K = CallClass::Free;
    C.PointerArg = 0;
  }
  return C;
}

bool isThrowHelper(StringRef Name) {
  // std::__throw_out_of_range and the like: _ZSt24__throw_…
  return Name.consume_front("_ZSt") &&
         Name.drop_while([](char C) { return C >= '0' && C <= '9'; })
             .starts_with("__throw_");
}

} // namespace

CallClass adjoin::knownFunction(const Function &F) {
  StringRef Name = F.getName();
  CallClass C;
  // An allocator stays one whoever wrote it, and however it is linked.
  if (const Entry *E = memoryFunctions().lookup(withoutRustMangling(Name)))
    if (C = classOf(*E, F); C.K != CallClass::Unknown)
      return C;
  if (C = classOfOperator(Name, F); C.K != CallClass::Unknown)
    return C;

  if (Name.starts_with("_ZN") || Name.starts_with("_R")) {
    for (StringRef Path : InactiveRustPaths)
      if (hasRustPath(Name, Path, /*Whole=*/true)) {
        C.K = CallClass::Inactive;
        return C;
      }
    for (StringRef Path : NoReturnRustPaths)
      if (F.doesNotReturn() && hasRustPath(Name, Path, /*Whole=*/false)) {
        C.K = CallClass::NoReturn;
        return C;
      }
  }

  // A function with a body is what its body says; only output functions, whose
  // variable arguments no derivative can pass on, are known by name alone.
  if (!F.isDeclaration() && !F.isVarArg())
    return C;
  static const StringSet<> Inactive = wordsOf(InactiveFunctions);
  static const StringSet<> NoReturn = wordsOf({NoReturnFunctions});
  if (Inactive.contains(withoutRustMangling(Name)))
    C.K = CallClass::Inactive;
  else if (NoReturn.contains(Name) || isThrowHelper(Name))
    C.K = CallClass::NoReturn;
  else if (Name.starts_with("_Z"))
    for (StringRef Prefix : InactivePrefixes)
      if (Name.starts_with(Prefix)) {
        C.K = CallClass::Inactive;
        break;
      }
  return C;
}
