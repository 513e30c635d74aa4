import HTTPWire
import LosslessJSON
import Model

@testable import Upstream

/// Variables of a call as clients write them, in a query string and in a body: they are coerced or refused
/// with a fault, and coercing the result again does not change it.
enum UpstreamVariablesTarget {
  /// Runs one input: the first byte selects the operation.
  static func run(_ input: UnsafeRawBufferPointer) {
    guard let dial = input.first else { return }
    let operation = FuzzedOperations.all[Int(dial) % FuzzedOperations.all.count]
    let bytes = Array(input.dropFirst())
    check(operation, .body(bytes))
    if let query = try? QueryString(bytes[...]) {
      let parameters = query.parameters.map { VariableInput.Parameter($0.name, $0.value) }
      check(operation, .parameters(path: [], query: parameters))
      check(operation, .parameters(path: Array(parameters.prefix(2)), query: []))
    }
    numbers(String(decoding: bytes, as: UTF8.self))
  }

  private static func check(_ operation: RegisteredOperation, _ input: VariableInput) {
    do throws(VariableFaults) {
      let once = try operation.coerce(input)
      guard let sent = try? JSONValue(parsing: once.json) else {
        return Finding.require(false, "what is sent is no JSON: \(once.json)")
      }
      do throws(VariableFaults) {
        let twice = try operation.coerce(.value(sent))
        Finding.require(
          twice.canonical == once.canonical, "one call, two: \(once.canonical) \(twice.canonical)")
      } catch {
        Finding.require(false, "what was coerced is refused: \(once.json) \(error)")
      }
    } catch {
      Finding.require(!error.all.isEmpty, "refused without a fault")
    }
  }

  private static func numbers(_ text: String) {
    guard let number = JSONNumber(digits: text) else { return }
    let canonical = CanonicalNumber.of(number)
    Finding.require(
      CanonicalNumber.of(canonical) == canonical, "\(text) has two forms: \(canonical)")
    guard let integer = CanonicalNumber.integer(number) else { return }
    Finding.require(
      integer.digits.utf8.drop { $0 == UInt8(ascii: "-") }.allSatisfy {
        (0x30...0x39).contains($0)
      },
      "no integer: \(integer)")
  }
}
