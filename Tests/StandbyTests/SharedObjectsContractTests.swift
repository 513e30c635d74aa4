import TestSupport
import Testing
import Transport

@testable import Standby

/// What every ``SharedObjects`` guarantees.
struct SharedObjectsContractTests {
  enum Kind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case memory, folder
    var testDescription: String { rawValue }
  }

  private let folder: TestFolder

  init() throws { folder = try TestFolder("standby-objects") }

  /// Objects of machines that share a place.
  private func machines(_ kind: Kind, _ count: Int) -> [any SharedObjects] {
    switch kind {
    case .memory:
      let memory = MemoryObjects()
      return (0..<count).map { _ in memory }
    case .folder:
      return (0..<count).map { _ in
        FolderObjects(base: folder.path, name: "shop", pool: BlockingPool(threadsMax: 2))
      }
    }
  }

  @Test("A fixed object is made once, and read by all", arguments: Kind.allCases)
  func fixedObjects(kind: Kind) async throws {
    let (a, b) = (machines(kind, 2)[0], machines(kind, 2)[1])
    let machines = kind == .memory ? [a, a] : [a, b]
    #expect(try await machines[0].read("log/1") == nil)
    #expect(try await machines[0].make("log/1", [1, 2, 3]))
    #expect(try await !machines[1].make("log/1", [4]))
    #expect(try await machines[1].read("log/1") == [1, 2, 3])
    try await machines[1].remove("log/1")
    try await machines[1].remove("log/1")
    #expect(try await machines[0].read("log/1") == nil)
    #expect(try await machines[0].make("empty", []))
    #expect(try await machines[1].read("empty") == [])
  }

  @Test("Of machines that make an object at the same moment one does", arguments: Kind.allCases)
  func makingRaces(kind: Kind) async throws {
    let machines = machines(kind, 8)
    for round in 0..<20 {
      let made = try await withThrowingTaskGroup(of: UInt8?.self) { group in
        for (index, machine) in machines.enumerated() {
          group.addTask {
            try await machine.make("log/\(round)", [UInt8(index)]) ? UInt8(index) : nil
          }
        }
        return try await group.reduce(into: [UInt8]()) { if let number = $1 { $0.append(number) } }
      }
      #expect(made.count == 1)
      #expect(try await machines[0].read("log/\(round)") == made)
    }
  }

  @Test("A register is replaced only by a writer that has seen its state", arguments: Kind.allCases)
  func registers(kind: Kind) async throws {
    let machines = machines(kind, 2)
    #expect(try await machines[0].register("lease") == nil)
    #expect(try await machines[0].replace("lease", with: [9], after: "7") == nil)
    let first = try #require(try await machines[0].replace("lease", with: [1], after: nil))
    #expect(try await machines[1].replace("lease", with: [2], after: nil) == nil)
    #expect(
      try await machines[1].register("lease") == RegisterState(bytes: [1], version: first))
    var seen = first
    for round in 0..<10 {
      let next = try #require(
        try await machines[round % 2].replace("lease", with: [UInt8(round)], after: seen))
      #expect(next != seen)
      #expect(try await machines[0].replace("lease", with: [99], after: seen) == nil)
      seen = next
      #expect(
        try await machines[1].register("lease")
          == RegisterState(bytes: [UInt8(round)], version: next))
    }
    // Its state was removed in the meantime.
    #expect(try await machines[0].replace("lease", with: [99], after: first) == nil)
    #expect(try await machines[1].register("lease")?.bytes == [9])
  }

  @Test("Of machines that replace a register at the same moment one does", arguments: Kind.allCases)
  func replacingRaces(kind: Kind) async throws {
    let machines = machines(kind, 6)
    var version: String?
    for _ in 0..<30 {
      let seen = version
      let done = try await withThrowingTaskGroup(of: (UInt8, String)?.self) { group in
        for (index, machine) in machines.enumerated() {
          group.addTask {
            try await machine.replace("lease", with: [UInt8(index)], after: seen).map {
              (UInt8(index), $0)
            }
          }
        }
        return try await group.reduce(into: [(UInt8, String)]()) {
          if let pair = $1 { $0.append(pair) }
        }
      }
      #expect(done.count == 1)
      version = try #require(done.first?.1)
      #expect(try await machines[0].register("lease")?.bytes == done.first.map { [$0.0] })
    }
  }

  @Test("A folder whose file system is not mounted is a fault, and nothing is made there")
  func missingFolder() async throws {
    let objects = FolderObjects(
      base: "\(folder.path)/mnt", name: "shop", pool: BlockingPool(threadsMax: 1))
    await #expect(throws: StandbyError.self) { try await objects.make("log/1", [1]) }
    await #expect(throws: StandbyError.self) { try await objects.read("log/1") }
    await #expect(throws: StandbyError.self) { try await objects.register("lease") }
    do {
      _ = try await objects.register("lease")
    } catch {
      guard case .faulty(let reason) = error else {
        Issue.record("\(error)")
        return
      }
      #expect(reason.contains("\(folder.path)/mnt does not exist"))
    }
  }

  @Test("A store that ignores conditions is refused, one that has them is not")
  func probing() async throws {
    for kind in Kind.allCases {
      try await StandbyFixture.store(machines(kind, 1)[0]).probe()
    }
    let careless = MemoryObjects()
    careless.ignoreConditions()
    do {
      try await StandbyFixture.store(careless).probe()
      Issue.record("it was taken")
    } catch {
      guard case .faulty(let reason) = error else {
        Issue.record("\(error)")
        return
      }
      #expect(reason.contains("If-None-Match"))
    }
  }
}
