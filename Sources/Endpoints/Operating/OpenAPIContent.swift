import Gateway
import LosslessJSON
import Model
import Synchronization

/// The bytes of `/openapi.json`, made at the first request for them.
///
/// Reading the template takes about 10 ms, too long for every start and for an event loop: a detached
/// task, which does not run on the request's loop, makes the bytes once for all requests.
final class OpenAPIContent: Sendable {
  private let make: @Sendable () throws -> [UInt8]
  private let task = Mutex<Task<[UInt8], any Error>?>(nil)

  init(
    operations: [OperationDescription], version: String, local: LocalSchema,
    template: @escaping @Sendable () throws -> JSONValue
  ) {
    make = {
      OpenAPIDocument(
        template: try template(), operations: operations, version: version, local: local
      ).value().bytes
    }
  }

  func bytes() async throws(Failure) -> [UInt8] {
    let making = task.withLock { task in
      if let task { return task }
      let begun = Task.detached { [make] in try make() }
      task = begun
      return begun
    }
    do {
      return try await making.value
    } catch {
      throw Failure(.internal, "The OpenAPI document cannot be read.", cause: "\(error)")
    }
  }
}
