/// Runs libFuzzer over the target, or the witness, by whose name the program was called.
@main
struct Fuzzing {
  private static let name =
    CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? ""
  static let target = FuzzTarget(rawValue: name)

  static func main() {
    if let witness = Witness(rawValue: name) { return witness.testify() }
    guard target != nil else {
      return print(FuzzTarget.allCases.map(\.rawValue).joined(separator: "\n"))
    }
    runFuzzer()
  }

  private static func runFuzzer() {
    var count = CommandLine.argc
    var arguments = CommandLine.unsafeArgv
    withUnsafeMutablePointer(to: &count) { count in
      withUnsafeMutablePointer(to: &arguments) { arguments in
        _ = runDriver(count, arguments, runOneInput)
      }
    }
  }
}

/// The main loop of libFuzzer; it reads its options from the arguments and can rewrite them.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
  _ count: UnsafeMutablePointer<Int32>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ run: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32

/// The callback of libFuzzer for each input.
private func runOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  Fuzzing.target?.run(UnsafeRawBufferPointer(start: bytes, count: count))
  return 0
}
