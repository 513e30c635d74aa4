import Gateway
import HTTPServer
import HTTPWire
import Model

/// A supported operation of S3, selected by method, level of the path, and names in the query.
///
/// The list of operations is closed. S3 selects operations by names in the query, so an unknown name
/// must never be ignored: without it `PUT …?renameObject` would be PutObject, and
/// `DELETE …?metadataTable` would be DeleteBucket.
struct S3Operation: Sendable {
  typealias OnService = @Sendable (S3Endpoint, S3Call) async throws(S3Fault) -> ServerResponse
  typealias OnBucket =
    @Sendable (S3Endpoint, BucketName, S3Call) async throws(S3Fault) -> ServerResponse
  typealias OnObject =
    @Sendable (S3Endpoint, ObjectAddress, S3Call) async throws(S3Fault) -> ServerResponse

  enum Action: Sendable {
    case service(OnService)
    case bucket(OnBucket)
    case object(OnObject)
  }

  /// The resource that the path names.
  enum Level: Sendable {
    case service
    case bucket
    case object
  }

  let methods: [RequestMethod]
  /// Names that the query must contain for this operation.
  let selectors: [String]
  /// Other names that the query can contain.
  let parameters: Set<String>
  let action: Action
  /// Whether the content authorises the operation, as a form's policy does, instead of the request.
  var isAllowedByContent = false

  var level: Level {
    switch action {
    case .service: .service
    case .bucket: .bucket
    case .object: .object
    }
  }

  static func service(
    _ methods: RequestMethod..., parameters: Set<String> = [], _ action: @escaping OnService
  ) -> S3Operation {
    S3Operation(
      methods: methods, selectors: [], parameters: parameters, action: .service(action))
  }

  static func bucket(
    _ methods: RequestMethod..., by selectors: [String] = [], parameters: Set<String> = [],
    _ action: @escaping OnBucket
  ) -> S3Operation {
    S3Operation(
      methods: methods, selectors: selectors, parameters: parameters, action: .bucket(action))
  }

  static func object(
    _ methods: RequestMethod..., by selectors: [String] = [], parameters: Set<String> = [],
    _ action: @escaping OnObject
  ) -> S3Operation {
    S3Operation(
      methods: methods, selectors: selectors, parameters: parameters, action: .object(action))
  }

  /// Finds the operation of a request.
  ///
  /// - Throws: `NotImplemented` for any name in the query that the operation does not support.
  static func find(
    _ method: RequestMethod, _ level: Level, _ query: QueryString
  ) throws(S3Fault) -> S3Operation {
    let names = Set(query.parameters.map(\.name).filter { !isForEvery($0) })
    let candidates = all.filter { $0.level == level && $0.methods.contains(method) }
    guard !candidates.isEmpty else { throw .methodNotAllowed }
    let found = candidates.filter { names.isSuperset(of: $0.selectors) }
      .max { $0.selectors.count < $1.selectors.count }
    let unknown = names.subtracting(found?.parameters ?? []).subtracting(found?.selectors ?? [])
    guard let found, unknown.isEmpty else {
      let list = unknown.sorted().joined(separator: ", ")
      throw S3Fault(
        .notImplemented,
        list.isEmpty
          ? "A header you provided implies functionality that is not implemented."
          : "The query has an operation or option that is not implemented: \(list).")
    }
    return found
  }

  /// Whether a name is allowed with any operation: names of the signature, of fields that a client moved
  /// into the query, and the operation's own name (`x-id`), which SDKs add.
  private static func isForEvery(_ name: String) -> Bool {
    name == "x-id" || name.lowercased().hasPrefix("x-amz-")
  }
}
