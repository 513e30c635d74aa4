/// The fuzz targets. The program is called by a target's name, through a link.
enum FuzzTarget: String, CaseIterable, Sendable {
  case requestStream = "request-stream"
  case responseStream = "response-stream"
  case chunkedBody = "chunked-body"
  case fieldValues = "field-values"
  case jsonText = "json-text"
  case graphQLDocument = "graphql-document"
  case graphQLSchema = "graphql-schema"
  case graphQLSession = "graphql-session"
  case filterText = "filter-text"
  case searchText = "search-text"
  case inclusionText = "inclusion-text"
  case forwarded
  case requestPath = "request-path"
  case settingsText = "settings-text"
  case token
  case awsChunked = "aws-chunked"
  case s3XML = "s3-xml"
  case form
  case s3Signature = "s3-signature"
  case headValue = "head-value"
  case upstreamVariables = "upstream-variables"
  case upstreamResponse = "upstream-response"
  case storedText = "stored-text"
  case webSocketFrames = "websocket-frames"
  case webSocketDeflate = "websocket-deflate"
  case webSocketExtensions = "websocket-extensions"
  case eventStream = "event-stream"
  case subscriptionMessages = "subscription-messages"
  case webhookMessage = "webhook-message"

  /// Runs one input; traps on a finding.
  func run(_ input: UnsafeRawBufferPointer) {
    switch self {
    case .requestStream: RequestStreamTarget.run(input)
    case .responseStream: ResponseStreamTarget.run(input)
    case .chunkedBody: ChunkedBodyTarget.run(input)
    case .fieldValues: FieldValueTarget.run(input)
    case .jsonText: JSONTextTarget.run(input)
    case .graphQLDocument: GraphQLDocumentTarget.run(input)
    case .graphQLSchema: GraphQLSchemaTarget.run(input)
    case .graphQLSession: GraphQLSessionTarget.run(input)
    case .filterText: FilterTextTarget.run(input)
    case .searchText: SearchTextTarget.run(input)
    case .inclusionText: InclusionTextTarget.run(input)
    case .forwarded: ForwardedTarget.run(input)
    case .requestPath: RequestPathTarget.run(input)
    case .settingsText: SettingsTextTarget.run(input)
    case .token: TokenTarget.run(input)
    case .awsChunked: AWSChunkedTarget.run(input)
    case .s3XML: S3XMLTarget.run(input)
    case .form: FormTarget.run(input)
    case .s3Signature: S3SignatureTarget.run(input)
    case .headValue: HeadValueTarget.run(input)
    case .upstreamVariables: UpstreamVariablesTarget.run(input)
    case .upstreamResponse: UpstreamResponseTarget.run(input)
    case .storedText: StoredTextTarget.run(input)
    case .webSocketFrames: WebSocketFramesTarget.run(input)
    case .webSocketDeflate: WebSocketDeflateTarget.run(input)
    case .webSocketExtensions: WebSocketExtensionsTarget.run(input)
    case .eventStream: EventStreamTarget.run(input)
    case .subscriptionMessages: SubscriptionMessagesTarget.run(input)
    case .webhookMessage: WebhookMessageTarget.run(input)
    }
  }
}

/// Runs libFuzzer over the target, or the witness, by whose name the program was called.
@main
struct Fuzzing {
  private static let name =
    CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? ""
  static let target = FuzzTarget(rawValue: name)

  static func main() {
    if let witness = Witness(rawValue: name) { return witness.testify() }
    guard target != nil else {
      return print(FuzzTarget.allCases.map(\.rawValue).joined(separator: "\n"))
    }
    runFuzzer()
  }

  private static func runFuzzer() {
    var count = CommandLine.argc
    var arguments = CommandLine.unsafeArgv
    withUnsafeMutablePointer(to: &count) { count in
      withUnsafeMutablePointer(to: &arguments) { arguments in
        _ = runDriver(count, arguments, runOneInput)
      }
    }
  }
}

/// The main loop of libFuzzer; it reads its options from the arguments and can rewrite them.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
  _ count: UnsafeMutablePointer<Int32>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ run: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32

/// The callback of libFuzzer for each input.
private func runOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  Fuzzing.target?.run(UnsafeRawBufferPointer(start: bytes, count: count))
  return 0
}

/// A violated invariant: it traps, so that the fuzzer keeps the input.
enum Finding {
  static func require(
    _ holds: Bool, _ message: @autoclosure () -> String, line: UInt = #line,
    file: StaticString = #fileID
  ) {
    guard !holds else { return }
    fatalError("finding: \(message())", file: file, line: line)
  }
}
