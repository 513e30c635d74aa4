/// Output that waits to be written: bytes and parts of files, in order.
struct OutputQueue {
  enum Item {
    /// Bytes from `start` on.
    case bytes([UInt8], start: Int)
    case file(OpenFile, offset: Int, count: Int)
  }

  /// Small writes are combined up to this size, so that a stalled peer's queue is sent in few calls.
  static let gatheredBytesMax = 16 * 1024

  private var items: ContiguousArray<Item> = []
  private var first = 0
  /// Bytes in memory, without files.
  private(set) var byteCount = 0
  private(set) var fileCount = 0

  var isEmpty: Bool { first == items.count }
  var head: Item? { isEmpty ? nil : items[first] }

  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard !bytes.isEmpty else { return }
    byteCount += bytes.count
    if !isEmpty, case .bytes(var last, let start) = items[items.count - 1],
      last.count + bytes.count <= Self.gatheredBytesMax
    {
      items[items.count - 1] = .bytes([], start: 0)  // release the storage before it grows
      last.append(contentsOf: bytes)
      items[items.count - 1] = .bytes(last, start: start)
    } else {
      items.append(.bytes([UInt8](bytes), start: 0))
    }
  }

  /// Appends the array from `start` on, without a copy.
  mutating func append(_ bytes: [UInt8], from start: Int) {
    guard start < bytes.count else { return }
    byteCount += bytes.count - start
    items.append(.bytes(bytes, start: start))
  }

  mutating func append(_ file: OpenFile, offset: Int, count: Int) {
    guard count > 0 else { return }
    fileCount += 1
    items.append(.file(file, offset: offset, count: count))
  }

  /// Removes `count` written bytes from the head.
  mutating func consume(_ count: Int) {
    guard let head else { return }
    switch head {
    case .bytes(let bytes, let start):
      byteCount -= count
      if start + count == bytes.count {
        dropHead()
      } else {
        items[first] = .bytes(bytes, start: start + count)
      }
    case .file(let file, let offset, let rest):
      if count == rest {
        fileCount -= 1
        dropHead()
      } else {
        items[first] = .file(file, offset: offset + count, count: rest - count)
      }
    }
  }

  mutating func removeAll() {
    items = []
    first = 0
    byteCount = 0
    fileCount = 0
  }

  private mutating func dropHead() {
    items[first] = .bytes([], start: 0)
    first += 1
    if first == items.count {
      items.removeAll(keepingCapacity: items.capacity <= 16)
      first = 0
    }
  }
}
