import GraphQL
import LosslessJSON

@testable import DemoUpstream

/// A schema with every kind of type, and a tree for it with many faults.
enum TreeSchema {
  static let sdl = #"""
    directive @skipped on FIELD
    type Query { zoo: Zoo  strictZoo: Zoo!  echo(int: Int = 3, float: Float, text: String, flag: Boolean,
      id: ID, color: Color = RED, ints: [Int!], deep: [[Int]], box: Box, any: Any): String!
      need(int: Int!): String  pet: Pet  pets: [Pet]  strictPets: [Pet!]  strictest: [Pet!]!
      thing: Thing  any: Any  int: Int  float: Float  flag: Boolean  color: Color  numbers: [[Int]]
      bad: String  strictBad: String!  badInt: Int  badColor: Color  badList: [Int]  badObject: Zoo
      badPet: Pet  bigAny: Any  echoNeed(int: Int! = 4): String }
    type Mutation { count(by: Int): Int!  fail: Int  failHard: Int! }
    type Subscription { ticks: Int }
    scalar Any
    enum Color { RED GREEN BLUE @deprecated }
    input Box { width: Int! = 2  height: Int!  label: String  inner: Box  tags: [String!] = ["a"] }
    interface Named { name: String }
    interface Pet implements Named { name: String  friend: Pet  strictFriend: Pet! }
    type Dog implements Pet & Named { name: String  friend: Pet  strictFriend: Pet!  barks: Boolean!  zoo: Zoo }
    type Cat implements Pet & Named { name: String  friend: Pet  strictFriend: Pet!  lives: Int  zoo: Zoo }
    type Zoo implements Named { name: String  pets: [Pet!]!  star: Pet!  sub: Zoo }
    union Thing = Dog | Cat | Zoo
    """#

  static let schema = Schema.buildRecovering([Parser.parseRecovering(Source(body: sdl)).document])
    .schema

  static let text = #"""
    {
      "zoo": {"__typename": "Zoo", "name": "Köln \"Zoo\"\n\\ \u0001 🦁",
        "pets": [
          {"__typename": "Dog", "name": "Rex", "barks": true, "friend":
            {"__typename": "Cat", "name": "Tom", "lives": 9, "friend": {"$error": "no friend"}, "strictFriend": {"$error": "none"}}},
          {"__typename": "Cat", "name": null, "lives": 7, "friend": null, "strictFriend": null}],
        "star": {"__typename": "Dog", "name": "Ace", "barks": null, "friend": null},
        "sub": {"__typename": "Zoo", "name": "inner", "pets": [null], "star": null, "sub": null}},
      "strictZoo": {"__typename": "Zoo", "name": "hard", "pets": [
          {"__typename": "Dog", "name": {"$error": "no name"}, "barks": false}], "star": {"$error": "no star"}},
      "pet": {"__typename": "Cat", "name": "Minka", "lives": 3,
        "friend": {"__typename": "Dog", "name": "Bello", "barks": true,
          "strictFriend": {"__typename": "Cat", "name": "Muck", "strictFriend": null}}},
      "pets": [{"__typename": "Dog", "name": "A", "barks": null}, null, {"$error": "third"},
        {"__typename": "Cat", "name": "D", "lives": 1}],
      "strictPets": [{"__typename": "Dog", "name": "A", "barks": true}, null],
      "strictest": [{"__typename": "Dog", "name": "A", "barks": null}],
      "thing": {"__typename": "Zoo", "name": "thing", "pets": []},
      "any": "text", "int": 7, "float": 1.5, "flag": false, "color": "GREEN",
      "numbers": [[1, 2], null, [], [3, null]],
      "bad": {"$error": "bad luck"}, "strictBad": {"$error": "worse luck"},
      "badInt": 2147483648, "badColor": "PINK", "badList": 5, "badObject": "zoo",
      "badPet": {"__typename": "Zoo", "name": "no pet"}, "bigAny": 9007199254740993,
      "fail": {"$error": "failed"}, "failHard": {"$error": "failed hard"}
    }
    """#

  static func tree() throws -> JSONValue { try JSONValue(parsing: text) }

  /// The response body for a request.
  static func answer(
    _ query: String, _ variables: String = "{}", operation: String? = nil,
    limits: ExecutionLimits = ExecutionLimits(), brokenFields: Set<String> = []
  ) throws -> String {
    let request = ExecutionRequest(
      query: query, operationName: operation, variables: try JSONValue(parsing: variables))
    let executor = Executor(schema: schema, limits: limits)
    var resolver = TreeResolver(try tree())
    do throws(RequestRejection) {
      let prepared = try executor.prepare(request)
      let bytes = try executor.run(prepared, with: &resolver, brokenFields: brokenFields)
      return String(decoding: bytes, as: UTF8.self)
    } catch {
      return String(decoding: error.bytes, as: UTF8.self)
    }
  }
}
