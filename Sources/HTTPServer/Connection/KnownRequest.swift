import HTTPWire

/// A request known by its bytes, and the answer to it.
final class KnownRequest {
  let bytes: [UInt8]
  let method: RequestMethod
  let answer: any RepeatableAnswer
  private let targetRange: Range<Int>

  init(_ head: borrowing RequestHead, answer: any RepeatableAnswer) {
    bytes = head.fields.bytes
    method = head.method
    targetRange = head.targetRange
    self.answer = answer
  }

  var target: ArraySlice<UInt8> { bytes[targetRange] }
}
