import SyncCore
import Testing

/// Names that every release must spell alike, because stores and services depend on them.
@Suite("Stable name conversions")
struct StableNameTests {
    static let snakeCase: [(String, String)] = [
        ("age", "age"), ("id", "id"), ("pdf", "pdf"), ("driverIdentifier", "driver_identifier"), ("userID", "user_id"),
        ("createdAt", "created_at"), ("OrderedUser", "ordered_user"), ("iURI", "i_uri"),
        ("avatarURLString", "avatar_url_string"), ("userId", "user_id"), ("line2Text", "line2_text"),
    ]

    static let camelCase: [(String, String?)] = [
        ("age", "age"), ("id", "id"), ("pdf", "pdf"), ("driver_identifier", "driverIdentifier"),
        ("integer16", "integer16"), ("user_id", "userID"), ("updated_at", "updatedAt"), ("updated_uri", "updatedURI"),
        ("test_!_key", nil), ("GreenWallet", "greenWallet"), ("firstName", "firstName"), ("zip_code", "zipCode"),
        ("_id", "id"),
    ]

    @Test("Names have their fixed snake_case form", arguments: snakeCase)
    func writesSnakeCase(_ name: String, _ expected: String) { #expect(Inflection.snakeCase(name) == expected) }

    @Test("Keys have their fixed camelCase form", arguments: camelCase)
    func writesCamelCase(_ key: String, _ expected: String?) { #expect(Inflection.camelCase(key) == expected) }

    @Test("The snake_case form of a name finds its attribute", arguments: snakeCase)
    func snakeCaseFindsAttribute(_ name: String, _ key: String) throws {
        let entity = SyncModel.Entity(
            "Thing", attributes: [SyncModel.Attribute("other", .string), SyncModel.Attribute(name, .string)])
        let model = try SyncModel(entities: [entity])
        #expect(try model.attribute(forKey: key, in: "Thing") == name)
        #expect(try model.attribute(forKey: name, in: "Thing") == name)
        #expect(try model.remoteKey(forAttribute: name, of: "Thing", case: .snake) == key)
        #expect(try model.remoteKey(forAttribute: name, of: "Thing", case: .camel) == name)
    }

    @Test("Unknown entities and attributes throw typed errors")
    func unknownNamesThrow() throws {
        let model = try SyncModel(entities: [
            SyncModel.Entity("Thing", attributes: [SyncModel.Attribute("id", .integer)])
        ])
        #expect(throws: SyncError.self) { try model.attribute(forKey: "id", in: "Other") }
        let error = #expect(throws: SyncError.self) { try model.remoteKey(forAttribute: "x", of: "Thing") }
        #expect(error?.code == .unknownAttribute && error?.entity == "Thing")
        #expect(try model.attribute(forKey: "x", in: "Thing") == nil)
    }
}
