/// A violated invariant: it traps, so that the fuzzer keeps the input.
enum Finding {
  static func require(
    _ holds: Bool, _ message: @autoclosure () -> String, line: UInt = #line,
    file: StaticString = #fileID
  ) {
    guard !holds else { return }
    fatalError("finding: \(message())", file: file, line: line)
  }
}
