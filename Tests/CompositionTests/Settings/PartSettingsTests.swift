import Endpoints
import Model
import Testing

@testable import Composition

struct PartSettingsTests {
  @Test(
    "A part is switched off by its section's value, by `enabled`, by a variable and by a flag",
    arguments: ServicePart.allCases)
  func switchesOff(_ part: ServicePart) throws {
    let name = part.rawValue
    for word in ["off", "false"] {
      let ways = [
        SettingsFixture(yaml: "\(name): \(word)"),
        SettingsFixture(yaml: "\(name): {enabled: \(word)}"),
        SettingsFixture(environment: ["LARDER_\(name.uppercased())": word]),
        SettingsFixture(environment: ["LARDER_\(name.uppercased())_ENABLED": word]),
        SettingsFixture(flags: [.init(name, spelling: "--set \(name)", value: word)]),
        SettingsFixture(
          flags: [.init("\(name).enabled", spelling: "--set \(name).enabled", value: word)]),
      ]
      for way in ways {
        let parts = try way.load().settings.parts
        #expect(!parts.contains(part), "\(way)")
      }
    }
    #expect(try SettingsFixture(yaml: "\(name): on").load().settings.parts == ServicePart.all)
    #expect(try SettingsFixture().load().settings.parts == ServicePart.all)
  }

  @Test("A later source switches a part on again")
  func laterSourcesWin() throws {
    let fixture = SettingsFixture(yaml: "push: off", environment: ["LARDER_PUSH": "on"])
    #expect(try fixture.load().settings.parts == ServicePart.all)
  }

  @Test("The settings in force name the place of the short form")
  func showsThePlace() throws {
    let dump = SettingsDump.yaml(try SettingsFixture(yaml: "push: off").load())
    #expect(dump.contains("enabled: false  # larder.yaml:1:7"), "\(dump)")
  }

  @Test(
    "A part that needs another one goes with it, if no setting asks for it",
    arguments: [
      ("files: off", [.files, .s3]), ("devices: off", [.devices, .push]),
      ("accounts: off", [.accounts, .push]),
      (
        "accounts: {enabled: false, issuers: {a: {url: 'http://a', audience: b}}}", [.accounts]
      ),
    ] as [(String, Set<ServicePart>)])
  func takesDependentsAlong(yaml: String, off: Set<ServicePart>) throws {
    let parts = try SettingsFixture(yaml: yaml).load().settings.parts
    #expect(parts == ServicePart.all.subtracting(off))
  }

  @Test(
    "A setting that needs a part that is off is a fault at that setting",
    arguments: [
      (
        "devices: off\npush: on",
        "larder.yaml:2:7: `push.enabled` needs devices, which `devices: off` switches off;"
          + " set `push: off` too"
      ),
      (
        "accounts: off\npush: {send: users}",
        "larder.yaml:2:14: `push.send` needs users, and there are none with `accounts: off` and"
          + " without `accounts.issuers`; set `push: off` too"
      ),
      (
        "files: off\ns3: {host: s3.example.com}",
        "larder.yaml:2:12: `s3.host` needs files, which `files: off` switches off;"
          + " set `s3: off` too"
      ),
      (
        "devices: off\nqueue: {parallel: 2}",
        "larder.yaml:2:19: `queue.parallel` needs devices, which `devices: off` switches off;"
          + " remove one of the two"
      ),
      (
        "accounts: off\ndevices: {register: user}",
        "larder.yaml:2:21: `devices.register: user` needs users, and there are none with"
          + " `accounts: off` and without `accounts.issuers`; set it to `open` or `admin`"
      ),
      (
        "accounts: off\nfiles: {buckets: {own: {access: user}}}",
        "larder.yaml:2:33: `files.buckets.own.access: user` needs users, and there are none with"
          + " `accounts: off` and without `accounts.issuers`; set it to `public-read` or `admin`"
      ),
      (
        "push: perhaps",
        "larder.yaml:1:7: `push` is a section; write its settings under it, or switch it `off`"
      ),
      (
        "push: {enabled: perhaps}",
        "larder.yaml:1:17: `push.enabled` must be true or false (or on or off), not \"perhaps\""
      ),
    ])
  func refusesContradictions(yaml: String, fault: String) {
    #expect(SettingsFixture(yaml: yaml).faults() == [fault])
  }

  @Test("A part that is off does not demand the settings that it needs when it is on")
  func demandsNothingWhileOff() {
    #expect(SettingsFixture(yaml: "push: {enabled: off, sender: onesignal}").faults() == [])
    #expect(SettingsFixture(yaml: "files: {enabled: off, store: s3}").faults() == [])
    #expect(SettingsFixture(yaml: "accounts: {enabled: off, provider: auth0}").faults() == [])
  }

  @Test("Without users a service with credentials of its own lets only the operator add devices")
  func guardsDevices() throws {
    let settings = try SettingsFixture(
      yaml: "accounts: off\nupstream: {headers: {x-key: abc}}"
    ).load().settings
    #expect(settings.devices.register == .admin)
  }
}
