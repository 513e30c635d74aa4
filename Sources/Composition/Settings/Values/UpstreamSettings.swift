package import Gateway
package import Model

/// The upstream GraphQL API, and the credentials and limits of calls to it.
package struct UpstreamSettings: Sendable {
  package enum Dialect: String, CaseIterable, Sendable {
    case plain
    case hasura
    case appsync
  }

  package enum Subscriptions: String, CaseIterable, Sendable {
    case auto
    case transportWS = "graphql-transport-ws"
    case legacyWS = "graphql-ws"
    case sse
    case off
  }

  package enum Persisted: String, CaseIterable, Sendable {
    case off
    case apq
  }

  package var url: ServiceURL?
  package var websocketURL: ServiceURL?
  /// Protocol of subscriptions.
  package var subscriptions = Subscriptions.auto
  package var dialect = Dialect.plain
  /// Fields sent with every call that carries no credential of a caller; names in lower case.
  package var headers: [String: Secret] = [:]
  /// Lower-case names of the caller's header fields to forward.
  package var forward: [String] = []
  /// Whether tokens issued here are forwarded instead of the service's own credentials.
  package var forwardsOwnTokens = false
  /// Hasura's admin secret, or AppSync's API key.
  package var secret: Secret?
  package var timeout = Duration.seconds(10)
  /// Whether documents are sent by hash (automatic persisted queries).
  package var persisted = Persisted.off
  /// Maximum concurrent calls.
  package var concurrencyMax = 64
  /// Maximum nesting of objects and lists in one response.
  package var responseDepthMax = 512
  /// Subscriptions that are kept open while no client listens.
  package var standing: [StandingSettings] = []
  /// Queries that are repeated.
  package var polls: [PollSettings] = []

  /// Where it is named; nil for the only one.
  package var place: SettingPlace?
  /// By the type's name in this upstream's schema; only for one of several upstreams.
  package var types: [String: UpstreamTypeSettings] = [:]

  /// Whether the service sends a credential of its own, judged by the names of its fields.
  package var hasOwnCredential: Bool {
    secret != nil || headers.keys.contains(where: CredentialName.matches)
  }

  /// Whether calls without a caller's credential are sent upstream with credentials of the service.
  package var hasServiceCredentials: Bool { secret != nil || !headers.isEmpty }
}

/// Settings of one type of one of several upstreams.
package struct UpstreamTypeSettings: Sendable {
  /// The name that its entities are stored under; nil = the type's own.
  package var storedName: String?
  /// Whether its entities are the same as those that another upstream stores under the name.
  package var isShared = false
}

/// A relationship from the entities of a type to those of another that name them by key.
package struct LinkSettings: Sendable {
  /// The type of the members.
  package var type: String?
  /// The members' field that holds the key of the owner.
  package var field: String?
}

/// One upstream with its name and the section of settings that it is configured in.
package struct NamedUpstream: Sendable {
  package let name: UpstreamName
  /// `upstream`, or `upstreams.NAME`.
  package let section: String
  package let settings: UpstreamSettings
}

extension Settings {
  /// All upstreams in alphabetical order.
  package var allUpstreams: [NamedUpstream] {
    guard !upstreams.isEmpty else {
      return [NamedUpstream(name: .sole, section: "upstream", settings: upstream)]
    }
    return upstreams.sorted { $0.key < $1.key }.map { name, settings in
      NamedUpstream(
        name: UpstreamName(name), section: "upstreams.\(name)", settings: settings)
    }
  }

  /// Whether any upstream is called with credentials of the service.
  package var hasServiceCredentials: Bool {
    allUpstreams.contains { $0.settings.hasServiceCredentials }
  }
}

/// Settings of `/v1/graphql`.
package struct GraphQLSettings: Sendable {
  package enum Unregistered: String, CaseIterable, Sendable {
    case refuse
    /// As ``allow``, and each document is logged once.
    case log
    case allow
  }

  /// What happens to documents that are not registered.
  package var unregistered = Unregistered.refuse
}

/// A standing subscription and where it is written.
package struct StandingSettings: Sendable {
  package let rule: StandingRule
  package let places: MemberPlaces
}

/// A poll and where it is written.
package struct PollSettings: Sendable {
  package let rule: PollRule
  package let places: MemberPlaces
}

/// Where a section of a list and its members are written.
package struct MemberPlaces: Sendable {
  /// The place of the section.
  package let whole: SettingPlace
  private var members: [String: SettingPlace] = [:]

  init(_ section: RawValue) {
    whole = section.place
    collect(section, under: "")
  }

  /// Returns the place of a member, such as `catchUp.field`, or the nearest one around it.
  func place(of name: String) -> SettingPlace {
    var name = Substring(name)
    while true {
      if let place = members[String(name)] { return place }
      guard let dot = name.lastIndex(of: ".") else { return whole }
      name = name[..<dot]
    }
  }

  private mutating func collect(_ value: RawValue, under prefix: String) {
    guard case .map(let entries) = value.form else { return }
    for entry in entries {
      let name = prefix + entry.name
      members[name] = members[name] ?? entry.value.place
      collect(entry.value, under: name + ".")
    }
  }
}

/// Defaults for queries without `@cache`, and the sizes of the caches.
package struct CacheSettings: Sendable {
  package var maxAge = Duration.zero
  package var staleWhileRevalidate = Duration.zero
  package var staleIfError = Duration.seconds(86_400)
  package var memoryBytesMax = 64 << 20
  /// Maximum size of the database; entities that live results refer to stay even above it.
  package var diskBytesMax = 8 << 30
}

/// Settings of one type, in addition to the schema.
package struct TypeSettings: Sendable {
  /// The key fields; empty = `@key` in the schema, else `id`.
  package var key: [String] = []
  package var index: [String] = []
  /// Fields of the full-text search.
  package var search: [String] = []
  /// Format of a local type's dates; nil = ISO 8601.
  package var dates: DateFormat?
  /// How long an entity that upstream deleted is kept for its local fields; nil = 90 days.
  package var keepLocal: Duration?
}
