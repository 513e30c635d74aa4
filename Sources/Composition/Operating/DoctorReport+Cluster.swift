import Cluster
import FoundationEssentials
import Logging
import Model
import Storage

/// Findings about a cluster: PostgreSQL, the other nodes, and what this node needs to be one.
extension DoctorReport {
  private static let part = "cluster"

  /// - Parameter digest: of this node's operations; nil if they have faults.
  static func cluster(_ settings: Settings, digest: String?) async -> [Finding] {
    guard let postgres = settings.cluster.postgres else { return [] }
    var findings = local(settings)
    let backend: PostgresBackend
    do throws(StartFailure) {
      backend = try ClusterAssembly.backend(
        postgres, settings.cluster,
        logger: Logger(label: "larder") { _ in SwiftLogNoOpLogHandler() })
    } catch {
      return findings + [Finding(part: part, verdict: .bad, text: error.description)]
    }
    do throws(ClusterError) {
      let found = try await backend.findings()
      findings += found.map {
        Finding(part: "PostgreSQL", verdict: $0.severity == .problem ? .bad : .note, text: $0.text)
      }
      if found.isEmpty {
        findings.append(Finding(part: "PostgreSQL", verdict: .good, text: "responds, and is fit"))
      }
    } catch {
      findings.append(
        Finding(
          part: "PostgreSQL", verdict: .bad, text: "\(error)",
          cure: "Does `cluster.postgres` name it, and does it accept this machine (pg_hba.conf)?"))
      await backend.close()
      return findings
    }
    do throws(ClusterError) {
      let nodes = try await backend.nodes()
      let head = try await backend.head()
      let own = FileManager.default.contents(
        atPath: "\(settings.dataFolder)/\(ClusterStart.nodeFileName)"
      ).map {
        String(decoding: $0, as: UTF8.self).split(separator: "\n").first.map(String.init) ?? ""
      }
      findings += await others(
        nodes.filter(\.isLive), own: own, digest, settings,
        NodeCheck.command(settings, cluster: try await backend.identity()))
      findings += position(of: settings.dataFolder, head)
    } catch {
      let isUnmade = if let lost = try? await backend.losses() { lost.isEmpty } else { false }
      // A role without rights, or no tables before the first start: what PostgreSQL's findings say.
      findings.append(
        Finding(
          part: part, verdict: isUnmade ? .note : .bad,
          text: isUnmade ? "no node has started yet, or \(error)" : "\(error)"))
    }
    await backend.close()
    return findings
  }

  /// What this machine lacks.
  private static func local(_ settings: Settings) -> [Finding] {
    var findings: [Finding] = []
    if !Store.canLead {
      findings.append(
        Finding(
          part: part, verdict: .bad,
          text: "SQLite was built without SQLITE_ENABLE_PREUPDATE_HOOK, which a node needs",
          cure: "Use the library of Debian or Ubuntu, or the container image."))
    }
    findings += ClusterSchemas.kept(settings).map {
      Finding(part: part, verdict: .note, text: $0)
    }
    return findings
  }

  /// - Parameters:
  ///   - nodes: the live ones, with that of this folder.
  ///   - own: the id of this folder's node; nil if it is none.
  ///   - check: nil without `cluster.secret`, of which the settings complain.
  static func others(
    _ nodes: [NodeRecord], own: String?, _ digest: String?, _ settings: Settings,
    _ check: NodeCheck?
  ) async -> [Finding] {
    var findings = NodeCheck.sharedAddresses(nodes).map {
      Finding(
        part: part, verdict: .bad, text: NodeCheck.text($0),
        cure: "Set `cluster.advertise` to an address of its own on each node.")
    }
    var faults: [NodeID: NodeCheck.Fault] = [:]
    for (node, fault) in await check?.faults(of: nodes) ?? [] { faults[node.id] = fault }
    for node in nodes {
      let name = "node \(node.id)"
      if let digest, node.digest != digest {
        findings.append(
          Finding(
            part: name, verdict: .note,
            text: "it has other operations, schemas or local types than this folder",
            cure: "Deploy the same files on all nodes; until then only nodes like the leader lead.")
        )
      }
      if node.version != Version.text {
        findings.append(
          Finding(
            part: name, verdict: .note,
            text: "it runs version \(node.version), this is \(Version.text)"))
      }
      if let fault = faults[node.id] {
        findings.append(Finding(part: name, verdict: .bad, text: fault.text, cure: fault.cure))
      } else if check != nil {
        findings.append(
          Finding(part: name, verdict: .good, text: "\(node.url) responds as this node"))
      }
    }
    if !nodes.contains(where: { $0.id.text != own }) {
      findings.append(Finding(part: part, verdict: .note, text: "no other node runs"))
    }
    return findings
  }

  /// Whether the folder goes on where the log does.
  private static func position(of folder: String, _ head: LogHead) -> [Finding] {
    let found: ClusterPosition?
    do throws(StorageError) { found = try Store.clusterPosition(folder: folder) } catch {
      return []
    }
    guard let found else {
      guard Store.hasDatabase(folder: folder) else { return [] }
      return [
        Finding(
          part: part, verdict: .bad,
          text: "\(folder) has the database of a single machine, with which a node does not start",
          cure:
            "Begin the cluster with it (larder cluster import), or set an empty folder with `data`."
        )
      ]
    }
    let place = "position \(found.position) of \(head.position)"
    if found.position > head.position {
      return [
        Finding(
          part: part, verdict: .bad,
          text:
            "the database is at \(place): PostgreSQL has lost commits that this folder has, and a start drops them",
          cure:
            "Read \"PostgreSQL was promoted\" in docs/cluster.md before you start it: the furthest node's folder can "
            + "begin the cluster again.")
      ]
    }
    guard found.position >= head.floor, !found.isDiverged else {
      return [
        Finding(
          part: part, verdict: .note,
          text:
            "the database is at \(place), where the log does not go on: the start fetches a snapshot"
        )
      ]
    }
    return [Finding(part: part, verdict: .good, text: "the database is at \(place)")]
  }
}

/// Schemas that a node has introspected for itself.
enum ClusterSchemas {
  /// - Returns: a sentence for each upstream without a schema file.
  static func kept(_ settings: Settings) -> [String] {
    settings.allUpstreams.filter {
      UpstreamFiles.schemaPath(of: $0, settings) != UpstreamFiles.schemaFile(of: $0, settings)
    }.map {
      "\(UpstreamFiles.schemaFile(of: $0, settings)) does not exist, so each node introspects "
        + "\($0.section) for itself, and can get another schema than the others; run larder schema pull, "
        + "and deploy the file"
    }
  }
}
