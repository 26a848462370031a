# Writes OUTPUT, a C++ file that defines llvm::StringRef adjoin::NAME() with the bytes of INPUT.
file(READ ${INPUT} hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
file(WRITE ${OUTPUT}
  "#include \"llvm/ADT/StringRef.h\"\n"
  "namespace adjoin {\n"
  "static const unsigned char Bytes[] = {${bytes}};\n"
  "llvm::StringRef ${NAME}() {\n"
  "  return {reinterpret_cast<const char *>(Bytes), sizeof(Bytes)};\n}\n"
  "} // namespace adjoin\n")
