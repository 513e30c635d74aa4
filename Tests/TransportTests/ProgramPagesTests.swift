import Testing

@testable import Transport

struct ProgramPagesTests {
  @Test("Only file-backed code is found in the memory map")
  func findsCodeOfFilesAndNothingElse() {
    let code = "7f0c8a400000-7f0c8a5d5000 r-xp 00028000 fe:00 1234                /lib/libc.so.6\n"
    #expect(ProgramPages.codeRange(code) == 0x7f0c_8a40_0000..<0x7f0c_8a5d_5000)
    for line in [
      code.replacing("r-xp", with: "rw-p"), code.replacing("r-xp", with: "rwxp"),
      code.replacing("/lib/libc.so.6", with: "[vdso]"), "7f0c8a400000-7f0c8a5d5000 r-xp 0 0:0 0\n",
      "", "x",
    ] {
      #expect(ProgramPages.codeRange(line) == nil, "\(line)")
    }
  }

  /// Whatever runs goes on, this test among it.
  @Test("The program keeps running after its pages are released")
  func releaseKeepsTheProgramRunning() {
    for _ in 0..<3 { ProgramPages.release() }
    #expect((0..<1000).map { "\($0)" }.sorted().prefix(3) == ["0", "1", "10"])
  }
}
