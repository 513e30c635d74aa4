import Foundation

/// Ids of entities that the phone creates: `~` and a UUIDv7. The random part alone tells them apart,
/// since clocks jump.
enum TemporaryID {
  static func isOne(_ id: String) -> Bool {
    id.hasPrefix("~") && (27...37).contains(id.utf8.count)
  }

  static func make(at date: Date) -> String {
    var bytes = UUID().uuid
    let milliseconds = UInt64(max(0, date.timeIntervalSince1970 * 1000))
    func byte(_ shift: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: milliseconds >> shift) }
    (bytes.0, bytes.1, bytes.2) = (byte(40), byte(32), byte(24))
    (bytes.3, bytes.4, bytes.5) = (byte(16), byte(8), byte(0))
    // The version; the variant is that of the random UUID.
    bytes.6 = 0x70 | bytes.6 & 0x0F
    return "~" + UUID(uuid: bytes).uuidString.lowercased()
  }
}
