/// How much may come of a coded body.
struct DecodingLimits: Sendable, Equatable {
  /// Bytes in all.
  var bytesMax: Int
  /// Bytes out for each byte in, once more than `bytesFree` have come out. Text repeats itself, so
  /// a short body may well be a hundredth of its content.
  var ratioMax: Int
  var bytesFree: Int

  /// Bytes that may have come out of so many.
  func bytesMax(for codedBytes: Int) -> Int {
    min(bytesMax, max(bytesFree, multiplied(codedBytes)))
  }

  /// A reader's own bound for content as it is sent, applied to what comes out.
  func readerBytesMax(_ bytesMax: Int) -> Int {
    min(self.bytesMax, multiplied(bytesMax))
  }

  private func multiplied(_ bytes: Int) -> Int {
    let (product, overflow) = bytes.multipliedReportingOverflow(by: ratioMax)
    return overflow ? .max : product
  }
}
