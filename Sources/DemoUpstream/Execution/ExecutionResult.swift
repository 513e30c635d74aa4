/// What became of an operation that ran.
struct ExecutionResult: Sendable {
  /// The whole body of the answer.
  let bytes: [UInt8]
  let errorCount: Int
}
