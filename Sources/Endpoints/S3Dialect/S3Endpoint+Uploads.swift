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
      throw S3Fault(.invalidArgument, "A part is written with partNumber beside uploadId.")
    }
    return number
  }
}
