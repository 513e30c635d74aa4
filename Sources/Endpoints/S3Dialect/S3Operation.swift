import Gateway
import HTTPServer
import HTTPWire
import Model

/// One operation of S3 that is done here: by its method, by what its path names, and by the names in
/// its query.
///
/// The list of them is closed. S3 puts its operations into names of the query, so a name that is not
/// known must never be passed over: `PUT …?renameObject` without it is PutObject, and
/// `DELETE …?metadataTable` is DeleteBucket.
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

  /// What the path names.
  enum Level: Sendable {
    case service
    case bucket
    case object
  }

  let methods: [RequestMethod]
  /// Names that the query must hold: what makes it this operation.
  let selectors: [String]
  /// Names that the query can hold beside them.
  let parameters: Set<String>
  let action: Action
  /// Whether the content brings what allows it, and not the request.
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

  /// The operation that a request asks for.
  ///
  /// - Throws: `NotImplemented` for any name in the query that the operation does not take.
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
      let told = unknown.sorted().joined(separator: ", ")
      throw S3Fault(
        .notImplemented,
        told.isEmpty
          ? "A header you provided implies functionality that is not implemented."
          : "The query names an operation or an option that is not implemented: \(told).")
    }
    return found
  }

  /// Names that stand beside those of any operation: of the signature, of fields that a client moved
  /// into the query, of the response, and the operation's own name that SDKs add.
  private static func isForEvery(_ name: String) -> Bool {
    name == "x-id" || name.lowercased().hasPrefix("x-amz-")
  }
}
