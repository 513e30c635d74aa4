/// Bytes that note which of them are looked at, in that order.
struct WatchedBytes: RandomAccessCollection {
  private final class Notes {
    var looks: [Int] = []
  }

  private let bytes: [UInt8]
  private let notes = Notes()

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var looks: [Int] { notes.looks }
  var startIndex: Int { bytes.startIndex }
  var endIndex: Int { bytes.endIndex }

  subscript(place: Int) -> UInt8 {
    notes.looks.append(place)
    return bytes[place]
  }
}
