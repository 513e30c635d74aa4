import Testing

@testable import Composition

struct SettingsFaultTests {
  /// Each kind of fault, with its line and column.
  @Test(
    "Each kind of fault is reported with its place",
    arguments: [
      // Names.
      ("upstrem: {url: x}", ["1:1: unknown setting `upstrem`; did you mean `upstream`?"]),
      (
        "upstream:\n  ulr: x",
        ["2:3: unknown setting `upstream.ulr`; did you mean `upstream.url`?"]
      ),
      (
        "cache: {maxage: 1s}", ["1:9: unknown setting `cache.maxage`; did you mean `cache.maxAge`?"]
      ),
      ("timeout: 1s", ["1:1: unknown setting `timeout`; did you mean `upstream.timeout`?"]),
      ("banana: red", ["1:1: unknown setting `banana`"]),
      ("cache.maxAge: 1s", ["1:1: write `cache.maxAge` as `maxAge` under `cache`"]),
      (
        "types: {Film: {kee: [id]}}",
        ["1:16: unknown setting `types.Film.kee`; did you mean `types.Film.key`?"]
      ),
      ("? [a, b]\n: 1", ["1:3: a setting's name must be plain text"]),
      // Duplicates.
      ("listen: :1\nlisten: :2", ["2:1: `listen` is written twice"]),
      ("cache: {maxAge: 1s, \"maxAge\": 2s}", ["1:21: `cache.maxAge` is written twice"]),
      (
        "log: {level: info}\nlog: {format: json}\nlog: {}",
        ["2:1: `log` is written twice", "3:1: `log` is written twice"]
      ),
      (
        "upstream:\n  headers:\n    X-A: a\n    x-a: b",
        ["4:5: `upstream.headers.x-a` is written twice"]
      ),
      (
        "proxies: {trust: [10.1.2.3, 10.0.0.0/8, 10.1.2.3]}",
        ["1:41: `proxies.trust` has \"10.1.2.3\" twice"]
      ),
      // Shapes.
      ("- listen", ["1:1: settings must be names with values, such as `listen: :8080`"]),
      ("cache: 60s", ["1:8: `cache` is a section; write its settings under it"]),
      (
        "cache:\n  maxAge: [60s]",
        ["2:11: `cache.maxAge` must be a duration from 0s to 366d, not a list"]
      ),
      ("log: {format: {a: b}}", ["1:15: `log.format` must be text or json, not a section"]),
      ("push: {rules: all}", ["1:15: `push.rules` must be a list, not \"all\""]),
      ("listen: []", ["1:9: `listen` needs at least 1 element"]),
      // Values.
      (
        "cache: {maxAge: 60}",
        [
          "1:17: `cache.maxAge` must be a duration from 0s to 366d, not \"60\"; the unit must be ms, s, m, h or d"
        ]
      ),
      (
        "cache: {staleIfError: -1s}",
        [
          "1:23: `cache.staleIfError` must be a duration from 0s to 366d, not \"-1s\"; a duration must not be negative"
        ]
      ),
      (
        "upstream: {timeout: 99ms}",
        ["1:21: `upstream.timeout` must be a duration from 100ms to 10m, not \"99ms\""]
      ),
      (
        "cache: {memory: 1mb}",
        [
          "1:17: `cache.memory` must be a size from 0B to 1TiB, not \"1mb\"; the unit must be B, KB, KiB, MB, MiB, GB, GiB, TB or TiB"
        ]
      ),
      (
        "queue: {parallel: 5}",
        ["1:19: `queue.parallel` must be a whole number from 1 to 4, not \"5\""]
      ),
      (
        "upstream: {dialect: hasuro}",
        [
          "1:21: `upstream.dialect` must be plain, hasura or appsync, not \"hasuro\"; did you mean hasura?"
        ]
      ),
      ("files: {pathStyle: yes}", ["1:20: `files.pathStyle` must be true or false, not \"yes\""]),
      (
        "upstream: {forward: [authorization, Host]}",
        [
          "1:37: each element of `upstream.forward` must be a header field name, not \"Host\"; that field belongs to the connection, not to the request"
        ]
      ),
      (
        "upstream: {forward: [device-token, \"a b\"]}",
        [
          "1:22: each element of `upstream.forward` must be a header field name, not \"device-token\"; this service handles that field, and never forwards it",
          "1:36: each element of `upstream.forward` must be a header field name, not \"a b\"; a field name consists of letters, digits and !#$%&'*+-.^_`|~",
        ]
      ),
      (
        "upstream: {headers: {Content-Type: x}}",
        [
          "1:22: a name under `upstream.headers` must be a header field name, not `Content-Type`; the service sets that field itself on each upstream request"
        ]
      ),
      (
        "types: {Fi-lm: {key: [id]}}",
        ["1:9: a name under `types` must be a GraphQL name such as Film, not `Fi-lm`"]
      ),
      (
        "files: {buckets: {Pics: {access: user}}}",
        [
          "1:19: a name under `files.buckets` must be a bucket name of 3 to 63 lower-case letters, digits and hyphens, not `Pics`"
        ]
      ),
      (
        "proxies: {trust: [10.0.0.1/8]}",
        [
          "1:19: each element of `proxies.trust` must be a block of addresses such as 10.0.0.0/8 or fd00::/8, or unix, not \"10.0.0.1/8\"; no bits may be set after the first 8"
        ]
      ),
      // Between settings.
      ("tls:\n  certificate: a.pem", ["2:16: `tls.certificate` needs `tls.key`"]),
      ("tls: {key: a.pem}", ["1:12: `tls.key` needs `tls.certificate`"]),
      (
        "tls: {certificates: {api: {key: a.pem}}}",
        [
          "1:33: `tls.certificates.api.key` needs `tls.certificates.api.certificate`"
        ]
      ),
      (
        "tls: {certificates: {api: {certificate: a.pem, key: a.key}}}",
        [
          "1:41: `tls.certificates` needs `tls.certificate`, which is for clients that request no name"
        ]
      ),
      (
        "upstream: {secret: s}",
        ["1:20: `upstream.secret` needs `upstream.dialect: hasura` or `appsync`"]
      ),
      (
        "upstream: {dialect: appsync, subscriptions: sse}",
        [
          "1:45: AppSync does not speak `sse`; set `upstream.subscriptions` to `auto`, or to"
            + " `graphql-ws` to send the credential in the URL"
        ]
      ),
      (
        "upstream: {standing: [{operation: A}], subscriptions: off}",
        [
          "1:22: `upstream.standing` needs subscriptions, which `upstream.subscriptions: off`"
            + " switches off; remove one of the two"
        ]
      ),
      (
        "upstream: {websocket: 'ws://a', subscriptions: sse}",
        [
          "1:23: `upstream.websocket` has no effect with `upstream.subscriptions: sse`; remove one"
            + " of the two"
        ]
      ),
      (
        "upstream: {forward: [authorization, X-Hasura-Role], headers: {X-Hasura-Admin-Secret: s}}",
        [
          "1:21: `upstream.forward` has `x-hasura-role` and `upstream.headers` has"
            + " `x-hasura-admin-secret`: callers would choose the role or user that the service's"
            + " secret acts as; set `upstream.dialect: hasura`"
        ]
      ),
      (
        "accounts: {provider: auth0, clientId: a, audience: b}",
        ["1:22: `accounts.provider: auth0` needs `accounts.domain`"]
      ),
      (
        "push: {sender: onesignal, appId: a}",
        ["1:16: `push.sender: onesignal` needs `push.apiKey`"]
      ),
      (
        "files: {store: s3, endpoint: \"http://s3\", accessKey: a}",
        ["1:16: `files.store: s3` needs `files.secretKey`"]
      ),
      (
        "files: {store: s3, endpoint: \"http://s3/x\", accessKey: a, secretKey: b}",
        ["1:30: `files.endpoint` must not have a path, but has /x"]
      ),
      (
        "files: {store: s3, endpoint: \"http://s3\", accessKey: a, secretKey: b, "
          + "buckets: {pics: {quota: 9}}}",
        [
          "1:95: `files.buckets.pics.quota` cannot be enforced with `files.store: s3`; remove it"
        ]
      ),
      (
        "tls: {hsts: 365d}",
        ["1:13: `tls.hsts` needs `tls.certificate`; behind a proxy, set HSTS in the proxy"]
      ),
      (
        "admin: {viewerToken: 0123456789abcdef0123456789abcdef}",
        ["1:22: `admin.viewerToken` needs `admin.token`"]
      ),
      (
        "admin: {token: 0123456789abcdef0123456789abcdef, viewerToken: 0123456789abcdef0123456789abcdef}",
        ["1:63: `admin.viewerToken` must differ from `admin.token`"]
      ),
      ("metrics: {access: admin}", ["1:19: `metrics.access: admin` needs `admin.token`"]),
      (
        "cors: {origins: [\"*\", \"https://a.example\"]}",
        ["1:17: `*` in `cors.origins` must be the only origin"]
      ),
      (
        "limits: {head: 8KiB}",
        ["1:16: `limits.field` (16KiB) must not exceed `limits.head` (8KiB)"]
      ),
      (
        "data: ./Public/data\npublic: ./x/../Public",
        ["2:9: `public` would serve the data folder, which is ./Public/data"]
      ),
      // Not YAML at all.
      (
        "cache: {maxAge: 1s",
        [
          "1:8: not YAML: in the section that begins here, a ',' or '}' is missing before line 2, "
            + "column 1"
        ]
      ),
      (
        "log: {}\nlisten: [a\ncors: {}\n",
        [
          "2:9: not YAML: in the list that begins here, a ',' or ']' is missing before line 3, "
            + "column 5"
        ]
      ),
      ("data: \"x\nlisten: :1", ["1:7: not YAML: the quoted text that begins here does not end"]),
      ("log: {}\nlisten\ndata: x", ["2:1: not YAML: this name has no ':'"]),
      (
        "cache:\n  maxAge: 1s\n staleIfError: 1s",
        ["3:2: not YAML: a name is expected here; indent all names of a section alike"]
      ),
      (
        "log: level: info",
        [
          "1:11: not YAML: no ':' can be here; quote a value that contains one, and indent all names "
            + "of a section alike"
        ]
      ),
      (
        "a: *b", ["1:4: not YAML: no anchor has this name; quote a value that begins with '*'"]
      ),
    ])
  func reportsFaultWithPlace(yaml: String, expected: [String]) {
    #expect(SettingsFixture(yaml: yaml).faults() == expected.map { "larder.yaml:\($0)" })
  }

  @Test("All faults of all sources are reported in order of place")
  func reportsAllFaults() {
    let fixture = SettingsFixture(
      yaml: """
        log: {levle: info, format: xml}
        cache:
          maxAge: soon
          maxAge: 1s
        listen: nowhere
        """,
      environment: ["LARDER_UPSTREAM_URI": "x", "LARDER_CACHE_MEMORY": "much"],
      flags: [.init("drain.dealy", value: "1s"), .init("drain.delay", value: "x")])
    #expect(
      fixture.faults(requiring: ["upstream.url"]) == [
        "larder.yaml:1:7: unknown setting `log.levle`; did you mean `log.level`?",
        "larder.yaml:1:28: `log.format` must be text or json, not \"xml\"",
        "larder.yaml:3:11: `cache.maxAge` must be a duration from 0s to 366d, not \"soon\"",
        "larder.yaml:4:3: `cache.maxAge` is written twice",
        "larder.yaml:5:9: each element of `listen` must be an address such as 127.0.0.1:8080,"
          + " [::1]:8080, :8080 or unix:/run/larder.sock, not \"nowhere\"; it needs a port, as in localhost:8080",
        "larder.yaml: `upstream.url` is not set; set it there or in LARDER_UPSTREAM_URL",
        "LARDER_CACHE_MEMORY: `cache.memory` must be a size from 0B to 1TiB, not \"much\"",
        "LARDER_UPSTREAM_URI: unknown variable; did you mean LARDER_UPSTREAM_URL?",
        "--drain.dealy: unknown setting `drain.dealy`; did you mean `drain.delay`?",
        "--drain.delay: `drain.delay` must be a duration from 0s to 10m, not \"x\"",
      ])
  }

  @Test(
    "Faulty flags are refused",
    arguments: [
      ("", "--: unknown setting ``"),
      ("cache", "--cache: `cache` is a section; write its settings under it"),
      (
        "types.1.key",
        "--types.1.key: a name under `types` must be a GraphQL name such as Film, not `1`"
      ),
      ("upstrem.url", "--upstrem.url: unknown setting `upstrem`; did you mean `upstream`?"),
      (
        "cache.maxAge",
        "--cache.maxAge: `cache.maxAge` must be a duration from 0s to 366d, not \"\""
      ),
    ])
  func refusesFlags(setting: String, expected: String) {
    #expect(SettingsFixture(flags: [.init(setting, value: "")]).faults() == [expected])
  }

  @Test("A fault in the file is reported although the environment overrides the value")
  func reportsOverriddenFault() {
    let fixture = SettingsFixture(
      yaml: "cache: {maxAge: soon}", environment: ["LARDER_CACHE_MAX_AGE": "1s"])
    #expect(fixture.faults().count == 1)
  }

  @Test("The excerpt has a caret under the fault")
  func showsCaret() {
    let fixture = SettingsFixture(yaml: "log:\n  # why not\n  level: loud\n  colour: red\n")
    #expect(
      fixture.report() == """
        larder.yaml:3:10: `log.level` must be trace, debug, info, notice, warning, error or \
        critical, not "loud"
          3 |   level: loud
            |          ^
        larder.yaml:4:3: unknown setting `log.colour`
          4 |   colour: ***
            |   ^
        """)
  }

  @Test("The excerpt of text that is not YAML shows known names, and nothing else")
  func showsNamesOfUnparsedText() {
    let fixture = SettingsFixture(
      yaml: "admin: {token: url, tokn: cache:x, url : [1, listen,\nsecret: data\n")
    #expect(
      fixture.report() == """
        larder.yaml:1:42: not YAML: in the list that begins here, a ',' or ']' is missing before \
        line 3, column 1
          1 | admin: {token: ***, url : [***,
            |                           ^
        """)
  }

  @Test("Columns are counted in Unicode scalars")
  func countsColumnsInScalars() {
    let fixture = SettingsFixture(yaml: "accounts: {audience: \"ä👍🏽\", provider: x}")
    #expect(
      fixture.report() == """
        larder.yaml:1:39: `accounts.provider` must be local or auth0, not "x"
          1 | accounts: {audience: "ä👍🏽", provider: x}
            |                                       ^
        """)
  }

  @Test("The excerpt of a long line shows a window around the fault")
  func showsWindowOfLongLine() {
    let names = (0..<200).map { "f\($0)" }.joined(separator: ", ")
    let report = SettingsFixture(yaml: "types: {Film: {index: [\(names)], kee: a}}").report()
    let lines = report.split(separator: "\n")
    #expect(lines.count == 3 && lines.allSatisfy { $0.count <= 110 })
    let caret = lines[2].prefix { $0 != "^" }.count
    #expect(lines[1].dropFirst(caret).hasPrefix("kee: ***"))
  }
}
