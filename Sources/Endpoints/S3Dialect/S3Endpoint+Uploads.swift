import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Model
import S3Wire

extension S3Endpoint {
  func postToObject(
    _ address: ObjectAddress, _ call: S3Call
  ) async throws(S3Fault) -> ServerResponse {
    if call.has("uploads") { return try await beginUpload(to: address, call) }
    if let id = call.query["uploadId"] {
      return try await completeUpload(UploadAddress(object: address, id: id), call)
    }
    if call.has("restore") || call.has("select") {
      throw S3Fault(.notImplemented, "Objects are neither archived nor queried here.")
    }
    throw .methodNotAllowed
  }

  private func beginUpload(
    to address: ObjectAddress, _ call: S3Call
  ) async throws(S3Fault) -> ServerResponse {
    let attributes = try S3WriteFields.attributes(call)
    let algorithm = call.field("x-amz-checksum-algorithm")
    if let algorithm {
      guard S3Digests.algorithm("\(S3Digests.prefix)\(algorithm.lowercased())") != nil else {
        throw S3Fault(.invalidRequest, "\(algorithm) is no algorithm that is known here.")
      }
    }
    let upload = try await S3Fault.translating { () async throws(Failure) in
      try await files.beginUpload(to: address, attributes: attributes, by: call.caller)
    }
    var writer = XMLWriter("InitiateMultipartUploadResult")
    writer.element("Bucket", address.bucket.text)
    writer.element("Key", address.key.text)
    writer.element("UploadId", upload.id)
    var response = S3Reply.document(writer)
    if let algorithm { response.fields.set("x-amz-checksum-algorithm", algorithm) }
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

  private func completeUpload(
    _ upload: UploadAddress, _ call: S3Call
  ) async throws(S3Fault) -> ServerResponse {
    for field in call.request.fields where S3Digests.isDigest(field.name.canonicalName) {
      throw S3Fault(
        .notImplemented, "Of an upload in parts each part's checksum is checked, not the whole's.")
    }
    let parts = try Self.parts(try await document(of: call))
    let condition = try S3WriteFields.condition(call)
    let written = try await S3Fault.translating { () async throws(Failure) in
      try await files.asS3(condition, on: upload.object, by: call.caller) {
        () async throws(Failure) in
        try await files.completeUpload(upload, parts: parts, if: condition, by: call.caller)
      }
    }
    var writer = XMLWriter("CompleteMultipartUploadResult")
    writer.element("Location", call.request.path)
    writer.element("Bucket", upload.object.bucket.text)
    writer.element("Key", upload.object.key.text)
    writer.element("ETag", tag: written.metadata.tag)
    return S3Reply.document(writer)
  }

  private static func parts(_ root: XMLElement) throws(S3Fault) -> [PartReference] {
    let elements = root.all("Part")
    guard root.name == "CompleteMultipartUpload", !elements.isEmpty,
      elements.count <= UploadPart.numbers.upperBound
    else {
      throw S3Fault(
        .malformedXML,
        "The document is CompleteMultipartUpload with 1 to \(UploadPart.numbers.upperBound) parts.")
    }
    var parts: [PartReference] = []
    for element in elements {
      guard let number = element["PartNumber"].flatMap({ Int($0.text) }),
        let text = element["ETag"]?.text
      else { throw S3Fault(.malformedXML, "A part has a PartNumber and an ETag.") }
      let tag = EntityTag(parsing: text)?.opaque ?? text
      parts.append(PartReference(number: number, tag: tag))
    }
    return parts
  }

  private static func number(_ call: S3Call) throws(S3Fault) -> Int {
    guard let number = try call.number("partNumber", in: UploadPart.numbers) else {
      throw S3Fault(.invalidArgument, "A part is written with partNumber beside uploadId.")
    }
    return number
  }
}
