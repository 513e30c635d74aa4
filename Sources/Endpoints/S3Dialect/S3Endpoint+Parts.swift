import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Model
import S3Wire

extension S3Endpoint {
  /// The number of attempts to read a part of one version of an object while other requests replace it.
  private static let readTriesMax = 4

  /// GetObject and HeadObject with `partNumber`: one part of an object, as it was uploaded.
  func readPart(
    _ number: Int, of address: ObjectAddress, _ overrides: S3ResponseOverrides, _ call: S3Call
  ) async throws(S3Fault) -> ServerResponse {
    guard call.field("range") == nil else {
      throw S3Fault(.invalidRequest, "Range and partNumber cannot be combined.")
    }
    for _ in 0..<Self.readTriesMax {
      let (metadata, parts) = try await S3Fault.translating { () async throws(Failure) in
        try await files.parts(ofObjectAt: address, by: .caller(call.caller))
      }
      // An object that was not uploaded in parts has one part: itself.
      let whole = [ObjectPart(number: 1, size: metadata.size)]
      let all = parts.isEmpty ? whole : parts
      guard let index = all.firstIndex(where: { $0.number == number }) else {
        throw S3Fault(.invalidPart, "The object has \(all.count) parts, but no part \(number).")
      }
      var fields = S3ObjectFields.fields(
        of: metadata, isChecksumWanted: call.isChecksumWanted && parts.isEmpty,
        isSigned: call.access.isSigned)
      if !parts.isEmpty {
        fields.set("x-amz-mp-parts-count", "\(parts.count)")
        if call.isChecksumWanted, let checksum = metadata.checksum {
          fields.setChecksum(all[index].checksum)
          fields.set("x-amz-checksum-type", checksum.kind.rawValue)
        }
      }
      overrides.apply(to: &fields)
      let start = all[..<index].reduce(0) { $0 + $1.size }
      let part = start..<(start + all[index].size)
      if let response = try await respond(with: part, of: address, metadata, fields, call) {
        return response
      }
    }
    throw S3Fault(
      .slowDown, "The object was replaced during every attempt to read it; retry later.")
  }

  /// - Returns: nil if the object has been replaced since.
  private func respond(
    with part: Range<Int>, of address: ObjectAddress, _ metadata: ObjectMetadata,
    _ fields: HTTPFields, _ call: S3Call
  ) async throws(S3Fault) -> ServerResponse? {
    var fields = fields
    var status = HTTPResponse.Status.ok
    if !part.isEmpty {
      status = .partialContent
      fields[.contentRange] =
        "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(metadata.size)"
    }
    if let response = try notModified(metadata, call) { return response }
    if call.request.method == .head {
      // HEAD writes no content; the stream only sets Content-Length.
      return ServerResponse(
        status: status, fields: fields, body: .stream(length: part.count) { _ in })
    }
    let result = try await S3Fault.translating { () async throws(Failure) in
      try await files.read(
        address, range: part.isEmpty ? nil : .closed(part.lowerBound, part.upperBound - 1),
        conditions: nil, by: .caller(call.caller))
    }
    guard case .content(let download) = result, download.metadata == metadata else { return nil }
    return ServerResponse(status: status, fields: fields, body: Self.body(download))
  }

  /// Writes `ObjectParts` of GetObjectAttributes.
  func writeParts(
    of address: ObjectAddress, to writer: inout XMLWriter, _ call: S3Call
  ) async throws(S3Fault) {
    let after = try Self.number("x-amz-part-number-marker", call) ?? 0
    let limit = min(
      try Self.number("x-amz-max-parts", call) ?? ObjectListRequest.limitMax,
      ObjectListRequest.limitMax)
    let (_, parts) = try await S3Fault.translating { () async throws(Failure) in
      try await files.parts(ofObjectAt: address, by: .caller(call.caller))
    }
    let rest = parts.filter { $0.number > after }
    let page = rest.prefix(limit)
    writer.element("ObjectParts") { writer in
      writer.element("PartsCount", parts.count)
      writer.element("PartNumberMarker", after)
      writer.element("MaxParts", limit)
      writer.element("IsTruncated", rest.count > page.count)
      if rest.count > page.count, let last = page.last {
        writer.element("NextPartNumberMarker", last.number)
      }
      for part in page {
        writer.element("Part") { writer in
          writer.element("PartNumber", part.number)
          writer.element("Size", part.size)
          writer.checksum(part.checksum)
        }
      }
    }
  }

  private static func number(_ name: String, _ call: S3Call) throws(S3Fault) -> Int? {
    guard let text = call.field(name) else { return nil }
    guard let number = Int(text), (0...Int(Int32.max)).contains(number) else {
      throw S3Fault(.invalidArgument, "\(name) must be a number of at least 0.")
    }
    return number
  }
}
