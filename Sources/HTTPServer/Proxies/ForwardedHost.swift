/// The authority that a proxy tells: it goes into addresses that are answered.
enum ForwardedHost {
  /// As long as a name can be (RFC 1035 2.3.4), and a port.
  private static let bytesMax = 255 + 6

  /// The text if it is a host and perhaps a port; else nil.
  static func checked(_ text: String) -> String? {
    let isHost = text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
        UInt8(ascii: "_"), UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"):
        true
      default:
        false
      }
    }
    return isHost && !text.isEmpty && text.utf8.count <= bytesMax ? text : nil
  }
}
