import Gateway
import HTTPServer
import HTTPWire
import Model
import S3Wire

extension S3Endpoint {
  /// Keys that one request may name, as in S3.
  private static let keysMax = 1000
  /// Of them removed at a time: together they share the store's syncs.
  private static let tasksMax = 32

  private struct Outcome: Sendable {
    let key: String
    let fault: S3Fault?
  }

  /// DeleteObjects. Each key is answered for itself.
  func deleteObjects(
    in bucket: BucketName, _ call: S3Call
  ) async throws(S3Fault) -> ServerResponse {
    let root = try await document(of: call, isDigestWanted: true)
    let objects = root.all("Object")
    guard root.name == "Delete", !objects.isEmpty, objects.count <= Self.keysMax else {
      throw S3Fault(
        .malformedXML, "The document is Delete with 1 to \(Self.keysMax) objects in it.")
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
        throw S3Fault(.noSuchVersion, "Versions of objects are not kept here.")
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
      throw S3Fault(.notImplemented, "Objects are not deleted by their \(name) here; use ETag.")
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
