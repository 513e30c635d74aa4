import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Model
import S3Wire

extension S3Endpoint {
  func putObject(
    _ address: ObjectAddress, _ call: S3Call
  ) async throws(S3Fault) -> ServerResponse {
    let attributes = try S3WriteFields.attributes(call)
    let condition = try S3WriteFields.condition(call)
    try S3RequestContent.requireLength(call)
    let upload = try S3RequestContent.upload(call)
    let written = try await storing(upload, call) { () async throws(Failure) in
      try await files.asS3(condition, on: address, by: call.caller) { () async throws(Failure) in
        try await files.write(
          upload, at: address, attributes: attributes, if: condition, by: .caller(call.caller))
      }
    }
    var fields = HTTPFields()
    fields[.eTag] = FileFields.tag(written.metadata).text
    fields.setChecksum(written.metadata.checksum)
    fields.setEncryption(written.metadata.attributes)
    return ServerResponse(fields: fields)
  }

  /// Stores content, and tells a wrong `x-amz-content-sha256` by its own name.
  func storing<Answer>(
    _ upload: FileUpload, _ call: S3Call, _ body: () async throws(Failure) -> Answer
  ) async throws(S3Fault) -> Answer {
    do throws(Failure) {
      return try await body()
    } catch {
      if error.code == .digestMismatch, case .sha256 = call.access.payload,
        upload.digests.count == 1
      {
        throw S3Fault(
          .contentSHA256Mismatch,
          "The provided 'x-amz-content-sha256' header does not match what was computed.")
      }
      throw S3Fault(error)
    }
  }

  func deleteObject(
    _ address: ObjectAddress, _ call: S3Call
  ) async throws(S3Fault) -> ServerResponse {
    let condition = try S3WriteFields.condition(call)
    for name in ["x-amz-if-match-last-modified-time", "x-amz-if-match-size"]
    where call.field(name) != nil {
      throw S3Fault(.notImplemented, "\(name) is not judged here; use If-Match.")
    }
    // Gone is gone, whether it was there or not, and under any condition.
    do throws(S3Fault) {
      _ = try await S3Fault.translating { () async throws(Failure) in
        try await files.asS3(condition, on: address, by: call.caller) { () async throws(Failure) in
          try await files.remove(address, if: condition, by: .caller(call.caller))
        }
      }
    } catch {
      guard error.code == .noSuchKey else { throw error }
    }
    return S3Reply.done(.noContent)
  }

  func copyObject(
    to target: ObjectAddress, _ call: S3Call
  ) async throws(S3Fault) -> ServerResponse {
    let source = try S3CopySource(call)
    let attributes = try S3WriteFields.attributes(call)
    let directive = call.field("x-amz-metadata-directive")?.uppercased() ?? "COPY"
    guard ["COPY", "REPLACE"].contains(directive) else {
      throw S3Fault(.invalidArgument, "x-amz-metadata-directive is COPY or REPLACE.")
    }
    guard directive == "REPLACE" || source.address != target else {
      throw S3Fault(
        .invalidRequest,
        "This copy request is illegal because it is trying to copy an object to itself without "
          + "changing the object's metadata.")
    }
    let condition = try S3WriteFields.condition(call)
    let checksum = try S3WriteFields.checksumAlgorithm(call)
    let tags = try Self.tagsOfCopy(attributes, call)
    let written = try await S3Fault.translating { () async throws(Failure) in
      try await files.asS3(condition, on: target, by: call.caller) { () async throws(Failure) in
        try await files.copy(
          source.address, where: source.conditions, to: target,
          attributes: directive == "REPLACE" ? attributes : nil, checksum: checksum, tags: tags,
          encryption: attributes.serverSideEncryption,
          if: condition, by: call.caller)
      }
    }
    var writer = XMLWriter("CopyObjectResult")
    writer.element("LastModified", written.metadata.modified)
    writer.element("ETag", tag: written.metadata.tag)
    writer.checksum(written.metadata.checksum)
    var response = S3Reply.document(writer)
    response.fields.setEncryption(written.metadata.attributes)
    return response
  }

  /// - Returns: nil for the tags of the source.
  private static func tagsOfCopy(
    _ attributes: ObjectAttributes, _ call: S3Call
  ) throws(S3Fault) -> TagSet? {
    switch call.field("x-amz-tagging-directive")?.uppercased() ?? "COPY" {
    case "COPY": return nil
    case "REPLACE": return attributes.tags
    default: throw S3Fault(.invalidArgument, "x-amz-tagging-directive must be COPY or REPLACE.")
    }
  }
}
