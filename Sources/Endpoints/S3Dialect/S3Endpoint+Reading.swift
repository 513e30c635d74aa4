import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Model
import S3Wire

extension S3Endpoint {
  func readObject(
    _ address: ObjectAddress, _ call: S3Call
  ) async throws(S3Fault) -> ServerResponse {
    let overrides = try S3ResponseOverrides(call)
    guard call.field("x-amz-server-side-encryption") == nil else {
      throw S3Fault(
        .invalidArgument, "x-amz-server-side-encryption is not allowed in a read.")
    }
    if let number = try call.number("partNumber", in: UploadPart.numbers) {
      return try await readPart(number, of: address, overrides, call)
    }
    if call.request.method == .head { return try await headObject(address, overrides, call) }
    return try await getObject(address, overrides, call)
  }

  private func getObject(
    _ address: ObjectAddress, _ overrides: S3ResponseOverrides, _ call: S3Call
  ) async throws(S3Fault) -> ServerResponse {
    let range = try await range(of: address, call)
    let result = try await S3Fault.translating { () async throws(Failure) in
      try await files.read(
        address, range: range, conditions: call.preconditions, by: .caller(call.caller))
    }
    switch result {
    case .notModified(let metadata):
      return ServerResponse(status: .notModified, fields: S3ObjectFields.validators(of: metadata))
    case .rangeNotSatisfiable(let size): return Self.unsatisfiable(size: size, call)
    case .content(let download):
      let size = download.metadata.size
      var fields = S3ObjectFields.fields(
        of: download.metadata, isChecksumWanted: call.isChecksumWanted && range == nil,
        isSigned: call.access.isSigned)
      overrides.apply(to: &fields)
      if range != nil { fields[.contentRange] = Self.contentRange(download.range, of: size) }
      return ServerResponse(
        status: range == nil ? .ok : .partialContent, fields: fields, body: Self.body(download))
    }
  }

  private static func contentRange(_ range: Range<Int>, of size: Int) -> String {
    "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)"
  }

  private static func unsatisfiable(size: Int, _ call: S3Call) -> ServerResponse {
    var response = S3Reply.fault(
      S3Fault(.invalidRange, "The requested range is not satisfiable"), call.request)
    response.fields[.contentRange] = "bytes */\(size)"
    return response
  }

  static func body(_ download: FileDownload) -> ResponseBody {
    switch download.source {
    case .bytes(let bytes): .bytes(bytes)
    case .file(let file): .file(file, download.range)
    case .stream(let next):
      .stream(length: download.range.count) { writer in
        while let piece = try await next() { try await writer.write(piece) }
      }
    }
  }

  private func headObject(
    _ address: ObjectAddress, _ overrides: S3ResponseOverrides, _ call: S3Call
  ) async throws(S3Fault) -> ServerResponse {
    let metadata = try await metadata(of: address, call)
    if let response = try notModified(metadata, call) { return response }
    // As in S3, HEAD has the fields of GET, ranges included: some clients learn an object's size by it.
    let spec = try await range(of: address, call)
    var bytes = 0..<metadata.size
    if let spec {
      guard let found = spec.resolve(length: metadata.size) else {
        return Self.unsatisfiable(size: metadata.size, call)
      }
      bytes = found
    }
    var fields = S3ObjectFields.fields(
      of: metadata, isChecksumWanted: call.isChecksumWanted && spec == nil,
      isSigned: call.access.isSigned)
    overrides.apply(to: &fields)
    if spec != nil { fields[.contentRange] = Self.contentRange(bytes, of: metadata.size) }
    // HEAD writes no content; the stream only sets Content-Length.
    return ServerResponse(
      status: spec == nil ? .ok : .partialContent, fields: fields,
      body: .stream(length: bytes.count) { _ in })
  }

  /// Judges the preconditions of a read.
  ///
  /// - Returns: the response to a client whose copy is current; nil to go on.
  func notModified(_ metadata: ObjectMetadata, _ call: S3Call) throws(S3Fault) -> ServerResponse? {
    let verdict = call.preconditions.judge(
      isRead: true, tag: FileFields.tag(metadata), modified: FileFields.modified(metadata))
    switch verdict {
    case .notModified:
      return ServerResponse(status: .notModified, fields: S3ObjectFields.validators(of: metadata))
    case .failed:
      throw S3Fault(.preconditionFailed, "A precondition of the request failed.")
    case .proceed: return nil
    }
  }

  /// GetObjectAttributes.
  func describeObject(
    _ address: ObjectAddress, _ call: S3Call
  ) async throws(S3Fault) -> ServerResponse {
    let metadata = try await metadata(of: address, call)
    let wanted = (call.field("x-amz-object-attributes") ?? "").split(separator: ",").map {
      $0.filter { $0 != " " }
    }
    guard !wanted.isEmpty else {
      throw S3Fault(.invalidArgument, "The header x-amz-object-attributes is missing.")
    }
    let known: Set = ["Checksum", "ETag", "ObjectParts", "ObjectSize", "StorageClass"]
    guard known.isSuperset(of: wanted) else {
      throw S3Fault(
        .invalidArgument,
        "x-amz-object-attributes must be a list of \(known.sorted().joined(separator: ", ")).")
    }
    var writer = XMLWriter("GetObjectAttributesResponse")
    if wanted.contains("ETag") { writer.element("ETag", metadata.tag) }
    if wanted.contains("Checksum"), let checksum = metadata.checksum {
      writer.element("Checksum") { $0.checksum(checksum) }
    }
    if wanted.contains("ObjectParts"), metadata.tag.contains("-") {
      try await writeParts(of: address, to: &writer, call)
    }
    if wanted.contains("StorageClass") { writer.element("StorageClass", "STANDARD") }
    if wanted.contains("ObjectSize") { writer.element("ObjectSize", metadata.size) }
    var response = S3Reply.document(writer)
    response.fields[.lastModified] = FileFields.modified(metadata).text
    return response
  }

  func metadata(
    of address: ObjectAddress, _ call: S3Call
  ) async throws(S3Fault) -> ObjectMetadata {
    try await S3Fault.translating { () async throws(Failure) in
      try await files.describe(address, by: .caller(call.caller))
    }
  }

  /// The requested range; nil for the whole object. As in S3, several ranges are ignored, and so is one
  /// of another version of the object (`If-Range`, RFC 9110 section 13.1.5).
  private func range(
    of address: ObjectAddress, _ call: S3Call
  ) async throws(S3Fault) -> ByteRangeSet.Spec? {
    guard let ranges = call.request.head["range"].flatMap({ ByteRangeSet($0) }),
      ranges.specs.count == 1
    else { return nil }
    guard let condition = call.request.head["if-range"] else { return ranges.specs.first }
    let metadata = try await metadata(of: address, call)
    let holds = RangeCondition(condition.text, now: call.request.date)?.holds(
      tag: FileFields.tag(metadata), modified: FileFields.modified(metadata))
    return holds == true ? ranges.specs.first : nil
  }
}

extension S3Call {
  var isChecksumWanted: Bool {
    field("x-amz-checksum-mode")?.lowercased() == "enabled"
  }
}
