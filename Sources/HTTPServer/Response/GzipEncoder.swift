import CZlib

/// Compressor of whole bodies to gzip that reuses one zlib stream.
///
/// A class, since zlib's state points back at the stream, which therefore must not move.
final class GzipEncoder {
  /// The best trade-off: level 6 takes 15 % longer and saves nothing on JSON.
  private static let level: Int32 = 5
  /// 15 bits of window, +16 for gzip's header and trailer.
  private static let windowBits: Int32 = 15 + 16
  private static let memoryLevel: Int32 = 8

  private let stream: UnsafeMutablePointer<z_stream>

  /// Creates an encoder; `nil` without memory for the 256 KiB it needs.
  init?() {
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    let result = larder_deflateInit2(stream, Self.level, Self.windowBits, Self.memoryLevel)
    guard result == Z_OK else {
      stream.deallocate()
      return nil
    }
  }

  deinit {
    deflateEnd(stream)
    stream.deallocate()
  }

  /// Compresses bytes; `nil` if the result would not be smaller.
  func encode(_ bytes: [UInt8]) -> [UInt8]? {
    guard deflateReset(stream) == Z_OK else { return nil }
    let encoded = [UInt8](unsafeUninitializedCapacity: bytes.count) { output, count in
      bytes.withUnsafeBytes { input in
        // zlib does not write through `next_in`, whatever its type says.
        stream.pointee.next_in = UnsafeMutablePointer(
          mutating: input.assumingMemoryBound(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = UInt32(input.count)
        stream.pointee.next_out = output.baseAddress
        stream.pointee.avail_out = UInt32(output.count)
        let result = deflate(stream, Z_FINISH)
        count = result == Z_STREAM_END ? output.count - Int(stream.pointee.avail_out) : 0
        stream.pointee.next_in = nil
        stream.pointee.next_out = nil
      }
    }
    return encoded.isEmpty ? nil : encoded
  }
}

extension GzipEncoder {
  /// One loop's encoder, created on first use.
  final class Pool {
    private var encoder: GzipEncoder?

    func encode(_ bytes: [UInt8]) -> [UInt8]? {
      if encoder == nil { encoder = GzipEncoder() }
      return encoder?.encode(bytes)
    }
  }
}

/// Compression of whole bodies, for caches of compressed responses.
package enum Gzip {
  /// Compresses bytes; `nil` if the result would not be smaller.
  package static func compress(_ bytes: [UInt8]) -> [UInt8]? { GzipEncoder()?.encode(bytes) }
}

/// The media types worth compressing: all forms of text. Images, video and archives are compressed
/// already.
enum CompressibleTypes {
  static func contains(_ contentType: String) -> Bool {
    if contentType == "application/json" { return true }
    let type = contentType.prefix { $0 != ";" }.lowercased()
    if type.hasPrefix("text/") { return type != "text/event-stream" }
    if type.hasSuffix("+json") || type.hasSuffix("+xml") { return true }
    switch type {
    case "application/json", "application/javascript", "application/xml", "application/graphql",
      "application/wasm", "application/manifest+json", "image/x-icon", "font/ttf", "font/otf":
      return true
    default:
      return false
    }
  }
}
