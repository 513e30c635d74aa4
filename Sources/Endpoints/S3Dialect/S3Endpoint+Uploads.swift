import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Model
import S3Wire

extension S3Endpoint {
  func beginUpload(
    to address: ObjectAddress, _ call: S3Call
  ) async throws(S3Fault) -> ServerResponse {
    let attributes = try S3WriteFields.attributes(call)
    let checksum = try S3WriteFields.uploadChecksum(call)
    let upload = try await S3Fault.translating { () async throws(Failure) in
      try await files.beginUpload(
        to: address, attributes: attributes, checksum: checksum, by: call.caller)
    }
    var writer = XMLWriter("InitiateMultipartUploadResult")
    writer.element("Bucket", address.bucket.text)
    writer.element("Key", address.key.text)
    writer.element("UploadId", upload.id)
    var response = S3Reply.document(writer)
    response.fields.setEncryption(attributes)
    if let checksum {
      response.fields.set(
        "x-amz-checksum-algorithm", checksum.algorithm.rawValue.uppercased())
      response.fields.set("x-amz-checksum-type", checksum.kind.rawValue)
    }
    return response
  }

  func putPart(of upload: UploadAddress, _ call: S3Call) async throws(S3Fault) -> ServerResponse {
    let number = try Self.number(call)
    try S3RequestContent.requireLength(call)
    let content = try S3RequestContent.upload(call)
    let part = try await storing(content, call) { () async throws(Failure) in
      try await files.writePart(number, of: upload, content, by: call.caller)
    }
    var fields = HTTPFields()
    fields[.eTag] = EntityTag(part.tag).text
    fields.setChecksum(part.checksum)
    return ServerResponse(fields: fields)
  }

  func copyPart(of upload: UploadAddress, _ call: S3Call) async throws(S3Fault) -> ServerResponse {
    let number = try Self.number(call)
    let source = try S3CopySource(call)
    let range = try S3CopySource.range(call)
    let part = try await S3Fault.translating { () async throws(Failure) in
      try await files.copyPart(
        number, of: upload, from: source.address, range: range, if: source.conditions,
        by: call.caller)
    }
    var writer = XMLWriter("CopyPartResult")
    writer.element("LastModified", part.modified)
    writer.element("ETag", tag: part.tag)
    writer.checksum(part.checksum)
    return S3Reply.document(writer)
  }

  func completeUpload(
    _ upload: UploadAddress, _ call: S3Call
  ) async throws(S3Fault) -> ServerResponse {
    let completion = try S3UploadCompletion.read(
      call, try await document(of: call, isDigested: false))
    let written = try await S3Fault.translating { () async throws(Failure) in
      try await files.asS3(completion.condition, on: upload.object, by: call.caller) {
        () async throws(Failure) in
        try await files.completeUpload(upload, completion, by: call.caller)
      }
    }
    var writer = XMLWriter("CompleteMultipartUploadResult")
    writer.element("Location", call.request.path)
    writer.element("Bucket", upload.object.bucket.text)
    writer.element("Key", upload.object.key.text)
    writer.element("ETag", tag: written.metadata.tag)
    writer.checksum(written.metadata.checksum)
    var response = S3Reply.document(writer)
    response.fields.setEncryption(written.metadata.attributes)
    return response
  }

  func abortUpload(
    _ upload: UploadAddress, _ call: S3Call
  ) async throws(S3Fault) -> ServerResponse {
    try await S3Fault.translating { () async throws(Failure) in
      try await files.abortUpload(upload, by: call.caller)
    }
    return S3Reply.done(.noContent)
  }

  private static func number(_ call: S3Call) throws(S3Fault) -> Int {
    guard let number = try call.number("partNumber", in: UploadPart.numbers) else {
      throw S3Fault(.invalidArgument, "Writing a part requires partNumber, besides uploadId.")
    }
    return number
  }
}

/// Reading of a request that completes an upload: its parts, and conditions on the object.
enum S3UploadCompletion {
  static func read(_ call: S3Call, _ root: XMLElement) throws(S3Fault) -> UploadCompletion {
    let parts = try parts(root)
    return UploadCompletion(
      parts: parts, condition: try S3WriteFields.condition(call),
      checksum: try checksum(call, partCount: parts.count), size: try size(call))
  }

  private static func parts(_ root: XMLElement) throws(S3Fault) -> [PartReference] {
    let elements = root.all("Part")
    guard root.name == "CompleteMultipartUpload", !elements.isEmpty,
      elements.count <= UploadPart.numbers.upperBound
    else {
      throw S3Fault(
        .malformedXML,
        "The document must be a CompleteMultipartUpload with 1 to "
          + "\(UploadPart.numbers.upperBound) parts.")
    }
    var parts: [PartReference] = []
    for element in elements {
      guard let number = element["PartNumber"].flatMap({ Int($0.text) }),
        let text = element["ETag"]?.text
      else { throw S3Fault(.malformedXML, "A Part must have a PartNumber and an ETag.") }
      let tag = EntityTag(parsing: text)?.opaque ?? text
      parts.append(
        PartReference(number: number, tag: tag, checksum: try checksum(of: element, number)))
    }
    return parts
  }

  /// The checksum that the client expects of a part.
  private static func checksum(
    of element: XMLElement, _ number: Int
  ) throws(S3Fault) -> ContentDigest? {
    for algorithm in ContentDigest.Algorithm.allCases where algorithm != .md5 {
      guard let text = element["Checksum\(algorithm.rawValue.uppercased())"]?.text else { continue }
      guard let digest = S3Digests.digest("\(S3Digests.prefix)\(algorithm.rawValue)", text) else {
        throw S3Fault(.invalidPart, "The checksum of part \(number) is malformed.")
      }
      return digest
    }
    return nil
  }

  /// The checksum that the client expects of the object.
  private static func checksum(
    _ call: S3Call, partCount: Int
  ) throws(S3Fault) -> ObjectChecksum? {
    let stated = call.fields.filter { S3Digests.isDigest($0.name.canonicalName) }
    guard let field = stated.first else { return nil }
    let name = field.name.canonicalName
    guard stated.count == 1, let algorithm = S3Digests.algorithm(name) else {
      throw S3Fault(
        .invalidRequest, "Give at most one checksum of the object, of a supported algorithm.")
    }
    let kind = try S3WriteFields.checksumKind(call)
    guard let checksum = S3Digests.checksum(name, field.value),
      kind == nil || UploadChecksum(algorithm, kind) != nil
    else {
      throw S3Fault(.badDigest, "The value of \(name) is not a valid checksum of an object.")
    }
    // Some clients omit the number of parts if the checksum is known to be composite.
    guard checksum.partCount == nil,
      kind == .composite || UploadChecksum(algorithm, .fullObject) == nil
    else { return checksum }
    return ObjectChecksum(checksum.digest, partCount: partCount)
  }

  private static func size(_ call: S3Call) throws(S3Fault) -> Int? {
    guard let text = call.field("x-amz-mp-object-size") else { return nil }
    guard let size = Int(text), size >= 0 else {
      throw S3Fault(.invalidArgument, "x-amz-mp-object-size must be a number of bytes.")
    }
    return size
  }
}
