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

  /// Stores content. A wrong `x-amz-content-sha256` has its own error code.
  func storing<Answer>(
    _ upload: UploadContent, _ call: S3Call, _ body: () async throws(Failure) -> Answer
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
      throw S3Fault(.notImplemented, "\(name) is not supported; use If-Match.")
    }
    // Deleting an object that does not exist succeeds, under any condition.
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
      throw S3Fault(.invalidArgument, "x-amz-metadata-directive must be COPY or REPLACE.")
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

  /// The tags of the copy; nil for those of the source.
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

extension S3Endpoint {
  /// The maximum number of keys in one request, as in S3.
  private static let keysMax = 1000
  /// The number of keys removed concurrently, so that they share the store's syncs.
  private static let tasksMax = 32

  private struct Outcome: Sendable {
    let key: String
    let fault: S3Fault?
  }

  /// DeleteObjects. The response has an outcome for each key.
  func deleteObjects(
    in bucket: BucketName, _ call: S3Call
  ) async throws(S3Fault) -> ServerResponse {
    let root = try await document(of: call, isDigestRequired: true)
    let objects = root.all("Object")
    guard root.name == "Delete", !objects.isEmpty, objects.count <= Self.keysMax else {
      throw S3Fault(
        .malformedXML, "The document must be a Delete with 1 to \(Self.keysMax) objects.")
    }
    let outcomes = await remove(objects, in: bucket, call)
    let isQuiet = root["Quiet"]?.text.lowercased() == "true"
    var writer = XMLWriter("DeleteResult")
    for outcome in outcomes {
      if let fault = outcome.fault {
        writer.element("Error") { writer in
          writer.element("Key", outcome.key)
          writer.element("Code", fault.code.rawValue)
          writer.element("Message", fault.message)
        }
      } else if !isQuiet {
        writer.element("Deleted") { $0.element("Key", outcome.key) }
      }
    }
    return S3Reply.document(writer)
  }

  /// - Returns: an outcome for each object, in their order.
  private func remove(
    _ objects: [XMLElement], in bucket: BucketName, _ call: S3Call
  ) async -> [Outcome] {
    await withTaskGroup(of: (Int, Outcome).self) { group in
      var outcomes = [Outcome?](repeating: nil, count: objects.count)
      for (index, object) in objects.enumerated() {
        if index >= Self.tasksMax, let (done, outcome) = await group.next() {
          outcomes[done] = outcome
        }
        group.addTask { (index, await remove(object, in: bucket, call)) }
      }
      for await (done, outcome) in group { outcomes[done] = outcome }
      return outcomes.compactMap { $0 }
    }
  }

  private func remove(
    _ object: XMLElement, in bucket: BucketName, _ call: S3Call
  ) async -> Outcome {
    let text = object["Key"]?.text ?? ""
    do throws(S3Fault) {
      let address = ObjectAddress(bucket: bucket, key: try S3Call.key(text))
      let version = object["VersionId"]?.text ?? ""
      guard version.isEmpty || version == "null" else {
        throw S3Fault(.noSuchVersion, "Object versions are not supported.")
      }
      let condition = try Self.condition(on: object, call)
      _ = try await S3Fault.translating { () async throws(Failure) in
        try await files.asS3(condition, on: address, by: call.caller) { () async throws(Failure) in
          try await files.remove(address, if: condition, by: .caller(call.caller))
        }
      }
      return Outcome(key: text, fault: nil)
    } catch {
      return Outcome(key: text, fault: error)
    }
  }

  private static func condition(
    on object: XMLElement, _ call: S3Call
  ) throws(S3Fault) -> WriteCondition {
    for name in ["LastModifiedTime", "Size"] where object[name] != nil {
      throw S3Fault(.notImplemented, "Deleting by \(name) is not supported; use ETag.")
    }
    do throws(Failure) {
      return try WriteConditions.read(
        Preconditions(
          ifMatch: object["ETag"]?.text, now: call.request.date, acceptsBareTags: true))
    } catch {
      throw S3Fault(error)
    }
  }
}
