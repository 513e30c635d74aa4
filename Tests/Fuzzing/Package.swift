// swift-tools-version: 6.2
import PackageDescription

// A package of its own: its products carry sanitizers and coverage counters that no other build should have.
// `Sources` is a link to the modules it fuzzes; `Scripts/fuzz` builds it. Of the larger modules it takes the
// files that parse external input, and their dependencies.
let package = Package(
  name: "fuzzing",
  dependencies: [
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2")
  ],
  targets: [
    .systemLibrary(name: "CLinux"),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib"),
    .target(name: "LosslessJSON"),
    .target(name: "HTTPWire", exclude: ["DESIGN.md"]),
    .target(name: "Model", dependencies: ["LosslessJSON"], exclude: ["DESIGN.md"]),
    .target(name: "Filtering", dependencies: ["LosslessJSON", "Model"]),
    .target(name: "GraphQL", dependencies: ["LosslessJSON"], exclude: ["DESIGN.md"]),
    .target(
      name: "Transport", dependencies: ["CLinux"], exclude: ["DESIGN.md"],
      sources: ["Endpoint.swift", "SocketAddress.swift"]),
    .target(
      name: "HTTPClient", dependencies: ["Transport"], exclude: ["DESIGN.md"],
      sources: ["HTTPURL.swift", "KeepAliveField.swift", "Origin.swift"]),
    .target(
      name: "HTTPServer", dependencies: ["HTTPWire", "Transport"], exclude: ["DESIGN.md"],
      sources: [
        "Proxies", "Observing/LoggedTarget.swift", "Routing/PathSegments.swift",
        "Routing/RoutePattern.swift",
      ]),
    .target(
      name: "Composition",
      dependencies: [
        "Endpoints", "Filtering", "Gateway", "GraphQL", "HTTPClient", "Model", "Transport",
        .product(name: "Yams", package: "Yams"),
      ],
      sources: ["Settings"]),
    .target(
      name: "S3Wire", dependencies: ["Cryptography", "HTTPWire"],
      sources: ["Chunked", "Signature", "XML"]),
    .target(
      name: "WebSocketWire", dependencies: ["CZlib", "HTTPWire"],
      exclude: ["DESIGN.md", "Handshake"]),
    .target(
      name: "S3FileStore", dependencies: ["Model"], exclude: ["DESIGN.md"],
      sources: ["Store/ContentRange.swift", "Store/EncodedWord.swift"]),
    .target(
      name: "Accounts", dependencies: ["LosslessJSON", "Model"], exclude: ["DESIGN.md"],
      sources: ["Tokens/CompactToken.swift"]),
    .target(
      name: "Endpoints", dependencies: ["HTTPWire", "LosslessJSON", "Model"],
      sources: [
        "Files/FileText.swift", "Context/IdempotencyKey.swift",
        "GraphQLClients/GraphQLMessage.swift", "GraphQLClients/GraphQLSession.swift",
        "Routing/ServicePart.swift",
      ]),
    .target(
      name: "Upstream",
      dependencies: [
        "Cryptography", "GraphQL", "HTTPClient", "HTTPWire", "LosslessJSON", "Model", "Transport",
      ],
      exclude: ["DESIGN.md"],
      sources: [
        "Client/CallHeaders.swift", "Client/PersistedDocuments.swift",
        "Client/ServiceCredential.swift",
        "Client/UpstreamConfiguration.swift", "Client/UpstreamDialect.swift",
        "Client/UpstreamFailure.swift", "Client/UpstreamResponse.swift", "Local", "Normalising",
        "Plan", "Received", "Registry", "Subscriptions/Messages", "Subscriptions/Session",
        "Subscriptions/SubscriptionLimits.swift", "Variables",
      ]),
    // In place of the real functions, which no fuzzer gets past: see its files.
    .target(name: "Cryptography", path: "Checksum"),
    .target(
      name: "Storage", dependencies: ["Model"],
      sources: ["ChangeLog/LogPosition.swift", "Schema/Quotation.swift"]),
    .target(
      name: "Gateway",
      dependencies: [
        "Cryptography", "Filtering", "HTTPClient", "LosslessJSON", "Model", "Storage", "Upstream",
      ],
      exclude: ["DESIGN.md"],
      sources: [
        "Changes/CursorCodec.swift", "Changes/FilterClock.swift", "Entities/PageTokenCodec.swift",
        "Hooks/HasuraMessage.swift", "Hooks/Hook.swift", "Hooks/HookMessage.swift",
        "Hooks/PlainMessage.swift", "Hooks/WebhookSignature.swift",
        "HooksOut/OutgoingHook.swift", "Push/PushRule.swift",
        "Standing/StandingRule.swift",
      ]),
    .executableTarget(
      name: "Fuzzing",
      dependencies: [
        "Accounts", "Composition", "Cryptography", "Endpoints", "Filtering", "Gateway", "GraphQL",
        "HTTPClient",
        "HTTPServer", "HTTPWire", "LosslessJSON", "Model", "S3FileStore", "S3Wire", "Storage",
        "Transport",
        "Upstream", "WebSocketWire",
      ],
      path: "Targets",
      linkerSettings: [
        .linkedLibrary("stdc++"),
        .unsafeFlags(["-sanitize=address"]),
      ]),
  ]
)

for target in package.targets where target.type != .system {
  target.swiftSettings = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    // Optimised for the number of runs, with the assertions of a debug build. Testable, since code that
    // parses bytes is seldom visible to other modules.
    .unsafeFlags([
      "-sanitize=fuzzer,address", "-assert-config", "Debug", "-enable-testing",
    ]),
  ]
}
