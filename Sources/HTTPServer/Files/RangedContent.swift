package import Transport

/// Content that ranges are read from: a file's, or bytes in memory.
package enum RangedContent: Sendable {
  case file(OpenFile)
  case bytes([UInt8])

  var byteCount: Int {
    switch self {
    case .file(let file): file.byteCount
    case .bytes(let bytes): bytes.count
    }
  }

  /// A stretch of the content as the body of a response.
  func body(_ range: Range<Int>) -> ResponseBody {
    switch self {
    case .file(let file): .file(file, range)
    case .bytes(let bytes): .bytes(Array(bytes[range]))
    }
  }

  /// - Returns: fewer bytes than asked for where a file has become shorter.
  func read(_ range: Range<Int>, on pool: BlockingPool) async throws -> [UInt8] {
    switch self {
    case .file(let file):
      try await pool.run { () throws(SystemError) -> [UInt8] in
        try file.read(range.count, from: range.lowerBound)
      }
    case .bytes(let bytes): Array(bytes[range])
    }
  }
}
