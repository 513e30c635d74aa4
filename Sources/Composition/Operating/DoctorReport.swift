import FoundationEssentials
import Gateway
import GraphQL
import HTTPClient
import LosslessJSON
import Model
import Storage
import Transport
import Upstream

/// The output of `larder doctor`: each part is checked by itself, so that one fault hides no other.
package struct DoctorReport: Sendable {
  package struct Finding: Sendable {
    package enum Verdict: String, Sendable {
      case good = "ok"
      case note
      case bad = "FAULT"
    }

    package let part: String
    package let verdict: Verdict
    package let text: String
    /// What to do, if the text does not say it.
    package var cure: String?
  }

  package let findings: [Finding]
  let loaded: LoadedSettings

  package var isHealthy: Bool { !findings.contains { $0.verdict == .bad } }

  /// Checks all parts.
  ///
  /// - Parameter isDeep: whether to read every page of the database and compare indexes with tables.
  package static func examine(
    _ loaded: LoadedSettings, isDeep: Bool = false,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) async -> DoctorReport {
    var findings = loaded.notes.map { Finding(part: "settings", verdict: .note, text: "\($0)") }
    let opened = open(loaded)
    findings += operations(opened)
    findings += certificates(loaded.settings.tls)
    findings += disk(loaded.settings.dataFolder)
    findings += database(loaded.settings, isDeep: isDeep)
    if let fault = StartFailure.missingAlgorithms() {
      // The parts below use them.
      findings.append(Finding(part: "openssl", verdict: .bad, text: fault.description))
    } else {
      findings += folder(loaded.settings, environment: environment)
      findings += encryption(loaded.settings, environment: environment)
      findings += await accounts(loaded.settings)
      findings += await files(loaded.settings.files)
      findings += await push(loaded.settings.push)
    }
    let workspace = try? opened.get()
    findings += await cluster(loaded.settings, digest: workspace?.digest)
    findings += await standby(loaded.settings)
    findings += await upstreams(loaded.settings, workspace)
    for upstream in loaded.settings.allUpstreams {
      findings += await live(upstream, workspace?.registry)
    }
    return DoctorReport(findings: findings, loaded: loaded)
  }

  private static func open(_ loaded: LoadedSettings) -> Result<Workspace, StartFailure> {
    do throws(StartFailure) {
      return .success(try Workspace.open(loaded))
    } catch {
      return .failure(error)
    }
  }

  private static func operations(_ opened: Result<Workspace, StartFailure>) -> [Finding] {
    do throws(StartFailure) {
      let workspace = try opened.get()
      let count = workspace.registry.operations.count
      let warnings = workspace.warnings.count
      let finding = Finding(
        part: "operations", verdict: warnings == 0 ? .good : .note,
        text: "\(count.counted("operation")), \(warnings.counted("warning")); see larder check")
      return [finding] + queue(workspace) + hooks(workspace)
    } catch {
      return [
        Finding(
          part: "operations", verdict: .bad, text: error.description,
          cure: "Repair these places; larder check tries them again.")
      ]
    }
  }

  private static func hooks(_ workspace: Workspace) -> [Finding] {
    HooksCheck(settings: workspace.settings.hooks, outline: workspace.registry.outline).lines.map {
      Finding(part: "webhook \($0.hook)", verdict: .good, text: $0.text)
    }
      + HooksOutCheck(
        settings: workspace.settings, registry: workspace.registry, local: workspace.local
      ).lines.map { Finding(part: "hook \($0.hook)", verdict: .good, text: $0.text) }
  }

  /// Findings about queued mutations. Damage is reported by the database's finding instead.
  private static func queue(_ workspace: Workspace) -> [Finding] {
    guard let misfits = try? QueuedOperations.misfits(workspace) else { return [] }
    return misfits.map {
      Finding(
        part: "queue", verdict: .bad, text: $0,
        cure: "Deploy operations that fit, or discard the mutations (docs/sync.md).")
    }
  }

  /// Whether database, folder and key belong together.
  private static func folder(
    _ settings: Settings, environment: [String: String]
  ) -> [Finding] {
    let folder = DataFolder(path: settings.dataFolder)
    guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
    let marker: StoreMarker?
    do throws(StorageError) {
      marker = try Store.marker(folder: folder.path)
    } catch {
      // The database's own finding reports it.
      return []
    }
    do throws(StartFailure) {
      if let name = folder.markerName, name != marker?.folder {
        let error: StorageError =
          marker == nil
          ? .noDatabase(folder: folder.path) : .otherDatabase(folder: folder.path)
        throw StartFailure(.dataFolder, StorageStartError.text(error, folder: folder.path))
      }
      try folder.checkKeyIsThere(for: marker, environment: environment)
      guard let marker else { return [] }
      let key = try folder.givenKey(environment: environment)
      guard KeyRing(root: key).digest != marker.keyDigest else {
        return [Finding(part: "folder", verdict: .good, text: "database and key belong together")]
      }
      return [
        Finding(
          part: "key", verdict: .bad,
          text: "it did not seal the secrets in the database; restore the right key")
      ]
    } catch {
      return [Finding(part: "folder", verdict: .bad, text: error.description)]
    }
  }

  /// Free space below which writes will soon fail.
  private static let freeBytesMin = 16 << 20

  private static func disk(_ folder: String) -> [Finding] {
    guard FileManager.default.fileExists(atPath: folder) else { return [] }
    if FileSystem.isReadOnly(at: folder) {
      return [
        Finding(
          part: "disk", verdict: .bad,
          text: "\(folder) is on a read-only file system: only reads can be served")
      ]
    }
    guard let free = FileSystem.freeBytes(at: folder), free < freeBytesMin else { return [] }
    return [
      Finding(
        part: "disk", verdict: .bad,
        text: "only \(free) bytes are free at \(folder): free disk space")
    ]
  }

  private static func database(_ settings: Settings, isDeep: Bool) -> [Finding] {
    let path = settings.dataFolder
    guard FileManager.default.fileExists(atPath: path) else {
      return [
        Finding(part: "data", verdict: .note, text: "\(path) will be created at the first start")
      ]
    }
    do throws(StorageError) {
      let found = try Store.inspect(folder: path, isDeep: isDeep)
      guard !found.isNewerSchema else { throw .newerSchema(folder: path) }
      let counts = found.statistics.map { statistics in
        let entities = statistics.tables.reduce(0) { $0 + $1.entities }
        return "\(statistics.databaseBytes) bytes, \(entities) entities, "
          + "\(statistics.results) results"
      }
      let state = found.isInUse ? "in use by a running service, " : ""
      let problems = found.problems.joined(separator: "; ")
      return [
        Finding(
          part: "database", verdict: found.problems.isEmpty ? .good : .bad,
          text: found.problems.isEmpty ? state + (counts ?? "empty") : "damaged: \(problems)",
          cure: found.problems.isEmpty
            ? nil : "Stop the service, and restore a backup with larder restore FILE --force."),
        sqlite(version: found.sqliteVersion),
      ]
    } catch {
      return [
        Finding(
          part: "database", verdict: .bad, text: StorageStartError.text(error, folder: path))
      ]
    }
  }

  /// The SQLite version. Before 3.51.3, two connections that write or checkpoint at once can lose pages.
  /// Larder has only one that writes, but another program could be a second.
  private static func sqlite(version: String) -> Finding {
    let parts = version.split(separator: ".").compactMap { Int($0) }
    let isOld = parts.lexicographicallyPrecedes([3, 51, 3])
    return Finding(
      part: "SQLite", verdict: isOld ? .note : .good,
      text: isOld
        ? "\(version): do not let another program write to the live database; versions before 3.51.3 "
          + "can lose pages then" : version)
  }

  /// One finding for each upstream, asked all at once: one that hangs does not delay the others.
  private static func upstreams(
    _ settings: Settings, _ workspace: Workspace?
  ) async -> [Finding] {
    let drift = workspace.map {
      SchemaDrift(sources: UpstreamFiles.read(settings).sources, registry: $0.registry)
    }
    return await withTaskGroup(of: (Int, [Finding]).self) { group in
      for (index, upstream) in settings.allUpstreams.enumerated() {
        group.addTask { (index, await self.upstream(upstream, drift)) }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }.sorted { $0.0 < $1.0 }.flatMap(\.1)
  }

  private static func upstream(
    _ named: NamedUpstream, _ drift: SchemaDrift?
  ) async -> [Finding] {
    let part = named.name == .sole ? "upstream" : "upstream \(named.name)"
    guard let url = named.settings.url?.text else {
      return [
        Finding(
          part: part, verdict: .bad, text: "\(named.section).url is not set",
          cure: "Set it to the URL of the GraphQL API.")
      ]
    }
    do {
      let group = try EventLoopGroup(count: 1)
      let client = HTTPClient(
        group: group, tls: try TLSClientContext(), random: { Double.random(in: 0..<1) })
      let upstream = UpstreamClient(
        settings: UpstreamConfiguration(named), clock: SystemClock.wall, client: client)
      let findings = await ask(upstream, url: url, part: part, drift)
      await client.close()
      await group.shutdown()
      return findings
    } catch {
      return [Finding(part: part, verdict: .bad, text: "\(error)")]
    }
  }

  private static func ask(
    _ upstream: UpstreamClient, url: String, part: String, _ drift: SchemaDrift?
  ) async -> [Finding] {
    do throws(UpstreamFailure) {
      let response = try await upstream.introspect(call: UpstreamCall())
      if let refusal = upstream.settings.refusal(
        in: response, of: UpstreamCall(), isPublic: true)
      {
        return [
          Finding(
            part: part, verdict: .bad,
            text: "\(url) does not accept the service's credential (\(refusal.reason))",
            cure: refusal.cure)
        ]
      }
      guard response.data != nil else {
        return [
          Finding(
            part: part, verdict: .note, text: "\(url) responds, but refuses introspection")
        ]
      }
      return [Finding(part: part, verdict: .good, text: "\(url) responds to introspection")]
        + schema(of: upstream.settings.name, response, part: part, drift)
    } catch {
      return [
        Finding(
          part: part, verdict: .bad, text: "\(url): \(error)",
          cure: "Is this the URL of a GraphQL API that runs? Set it with "
            + "\(upstream.settings.name == .sole ? "upstream" : "upstreams.\(upstream.settings.name)")"
            + ".url.")
      ]
    }
  }

  /// Whether upstream's present schema still fits the operations.
  private static func schema(
    of upstream: UpstreamName, _ response: UpstreamResponse, part: String, _ drift: SchemaDrift?
  ) -> [Finding] {
    guard let drift else { return [] }
    let sdl: String
    do throws(Faults) {
      sdl = try Schema.build(introspection: JSONValue(response.document.root)).sdl
    } catch {
      return [Finding(part: part, verdict: .note, text: "its schema is not valid: \(error)")]
    }
    let differences = drift.differences(of: upstream, to: sdl)
    guard !differences.isEmpty else {
      return [Finding(part: part, verdict: .good, text: "its schema fits the operations")]
    }
    let shown = differences.prefix(SchemaDrift.shownMax).joined(separator: "; ")
    let more = differences.count - SchemaDrift.shownMax
    return [
      Finding(
        part: part, verdict: .bad,
        text: "its schema does not fit the operations any more: \(shown)"
          + (more > 0 ? "; and \(more) more" : "") + "; run larder schema pull and larder check")
    ]
  }
}

extension DoctorReport {
  /// Certificates that expire sooner than this should have been renewed: most are renewed after two
  /// thirds of their 90 days.
  private static let renewalDays: Int64 = 14

  /// One finding for each certificate, or for each fault of their files.
  static func certificates(_ settings: TLSSettings) -> [Finding] {
    guard let certificates = ServerCertificates(settings) else { return [] }
    do throws(TLSContextFaults) {
      let context = try certificates.read()
      let now = SystemClock.wall.now().milliseconds / 1000
      let warnings = ServerCertificates.warnings(of: context, secondsSince1970: now)
        .map { Finding(part: "certificate", verdict: .note, text: $0) }
      return context.certificates.map { finding($0, now: now) } + warnings
    } catch {
      return error.faults.map { Finding(part: "certificate", verdict: .bad, text: "\($0)") }
    }
  }

  private static func finding(_ certificate: TLSCertificateFacts, now: Int64) -> Finding {
    let days = (certificate.expirySeconds - now) / 86_400
    let names = certificate.names.isEmpty ? "no name" : certificate.names.joined(separator: ", ")
    let verdict: Finding.Verdict =
      certificate.expirySeconds <= now ? .bad : days < renewalDays ? .note : .good
    return Finding(
      part: "certificate", verdict: verdict,
      text: "\(certificate.files.certificate) is for \(names), "
        + (verdict == .bad ? "and has expired" : "and expires in \(days) days"))
  }
}
