import SyncCore
import Testing

@Suite("Attribute naming")
struct NamingTests {
    private let model: SyncModel

    init() throws {
        model = try SyncModel(entities: [
            SyncModel.Entity(
                "Person",
                attributes: [
                    SyncModel.Attribute("remoteID", .integer), SyncModel.Attribute("firstName", .string),
                    SyncModel.Attribute("contractID", .integer),
                    SyncModel.Attribute("avatarUrl", .url), SyncModel.Attribute("nick_name", .string),
                    SyncModel.Attribute("email", .string, remoteKey: "contact.email_address"),
                    SyncModel.Attribute("age", .integer, remoteKey: "age_of_person"),
                    SyncModel.Attribute("personType", .string),
                    SyncModel.Attribute("personDescription", .string),
                    SyncModel.Attribute("rawSigned", .string, remoteKey: "signed"),
                    SyncModel.Attribute("personSigned", .boolean), SyncModel.Attribute("destroy", .boolean),
                ]),
            SyncModel.Entity("Student", parent: "Person", attributes: [SyncModel.Attribute("school", .string)]),
            SyncModel.Entity(
                "Clash",
                attributes: [
                    // Several attributes match `total`, `user_id`, `id` and `type`. The strongest match wins.
                    SyncModel.Attribute("remoteID", .string), SyncModel.Attribute("total", .integer),
                    SyncModel.Attribute("sum", .integer, remoteKey: "total"),
                    SyncModel.Attribute("userId", .integer), SyncModel.Attribute("user_id", .integer),
                    SyncModel.Attribute("id", .string), SyncModel.Attribute("type", .string),
                    SyncModel.Attribute("clashType", .string),
                ]),
        ])
    }

    @Test(
        "A key finds the attribute that it fills",
        arguments: [
            ("Person", "id", "remoteID"), ("Person", "_id", "remoteID"), ("Person", "Id", "remoteID"),
            ("Person", "remoteID", "remoteID"), ("Person", "remote_id", "remoteID"),
            ("Person", "first_name", "firstName"), ("Person", "firstName", "firstName"),
            ("Person", "FirstName", "firstName"), ("Person", "contract_id", "contractID"),
            ("Person", "avatar_url", "avatarUrl"), ("Person", "nick_name", "nick_name"),
            ("Person", "contact.email_address", "email"), ("Person", "email", "email"), ("Person", "age", "age"),
            ("Person", "age_of_person", "age"), ("Person", "type", "personType"),
            ("Person", "description", "personDescription"), ("Person", "signed", "rawSigned"),
            ("Student", "type", "personType"), ("Student", "school", "school"), ("Student", "id", "remoteID"),
            ("Clash", "total", "sum"), ("Clash", "sum", "sum"), ("Clash", "user_id", "user_id"),
            ("Clash", "userId", "userId"), ("Clash", "id", "id"), ("Clash", "type", "type"),
        ])
    func keyFindsAttribute(entity: String, key: String, expected: String) throws {
        #expect(try model.attribute(forKey: key, in: entity) == expected)
    }

    @Test("Other keys find no attribute", arguments: ["nickName", "nick", "email_address", "contact", "", "school"])
    func otherKeysFindNoAttribute(key: String) throws {
        #expect(try model.attribute(forKey: key, in: "Person") == nil)
    }

    @Test("Matches of keys and attributes are ranked by strength")
    func ranksMatches() throws {
        let strengths = try ["age_of_person", "age", "firstName", "first_name", "FirstName", "type", "id"].map { key in
            let entity = try model.compiled.entity(named: "Person")
            return model.compiled.names(of: entity).attribute(forKey: key)?.strength
        }
        #expect(strengths == [0, 1, 1, 2, 2, 4, 5])
        let snake = try SyncModel(entities: [
            SyncModel.Entity("A", attributes: [SyncModel.Attribute("URLPath", .string)])
        ])
        let found = snake.compiled.names(of: snake.compiled.entities[0]).attribute(forKey: "url_path")
        #expect(found?.strength == 3)
    }

    @Test(
        "Attributes are exported under their remote key",
        arguments: [
            ("Person", "remoteID", "id"), ("Person", "firstName", "first_name"),
            ("Person", "contractID", "contract_id"),
            ("Person", "nick_name", "nick_name"), ("Person", "email", "contact.email_address"),
            ("Person", "personType", "type"), ("Person", "personDescription", "description"),
            ("Person", "rawSigned", "signed"), ("Person", "personSigned", "person_signed"),
            ("Person", "destroy", "destroy"), ("Student", "personType", "type"), ("Clash", "id", "id"),
            ("Clash", "remoteID", "remote_id"), ("Clash", "clashType", "clash_type"),
        ])
    func exportsRemoteKeys(entity: String, attribute: String, expected: String) throws {
        #expect(try model.remoteKey(forAttribute: attribute, of: entity) == expected)
    }

    @Test("camelCase exports and nested exports have their own keys")
    func exportsKeyVariants() throws {
        #expect(try model.remoteKey(forAttribute: "firstName", of: "Person", case: .camel) == "firstName")
        #expect(try model.remoteKey(forAttribute: "remoteID", of: "Person", case: .camel) == "id")
        #expect(try model.remoteKey(forAttribute: "personType", of: "Person", case: .camel) == "type")
        #expect(try model.remoteKey(forAttribute: "age", of: "Person", case: .camel) == "age_of_person")
        #expect(try model.remoteKey(forAttribute: "destroy", of: "Person", nested: true) == "_destroy")
        #expect(try model.remoteKey(forAttribute: "destroy", of: "Person", case: .camel, nested: true) == "_destroy")
    }

    @Test(
        "Every exported key is read back into its attribute", arguments: ["Person", "Student"], [KeyCase.snake, .camel])
    func exportedKeysFillTheirAttributes(entity: String, keyCase: KeyCase) throws {
        let names = try model.compiled.entity(named: entity).slotByName.keys
        for name in names {
            let key = try model.remoteKey(forAttribute: name, of: entity, case: keyCase)
            #expect(try model.attribute(forKey: key, in: entity) == name, "\(key)")
        }
    }

    @Test(
        "Every key in the model's key case is read back into its attribute",
        arguments: ["Person", "Student"], KeyCase.allCases)
    func spelledKeysFillTheirAttributes(entity: String, keyCase: KeyCase) throws {
        let model = try SyncModel(entities: model.entities, keyCase: keyCase)
        for name in try model.compiled.entity(named: entity).slotByName.keys {
            let key = try model.remoteKey(forAttribute: name, of: entity)
            #expect(try model.attribute(forKey: key, in: entity) == name, "\(key)")
        }
    }

    @Test("Unknown entities and attributes are rejected")
    func rejectsUnknownNames() {
        #expect(throws: SyncError.self) { try model.attribute(forKey: "id", in: "Nobody") }
        let error = #expect(throws: SyncError.self) { try model.remoteKey(forAttribute: "x", of: "Person") }
        #expect(error?.code == .unknownAttribute)
    }

    @Test("A to-one relationship has keys for objects and for IDs")
    func toOneKeys() {
        let relationship = SyncModel.Relationship("homeTown", to: "Town")
        #expect(AttributeNaming.objectKeys(for: relationship) == ["home_town", "homeTown"])
        #expect(
            AttributeNaming.idKeys(for: relationship)
                == ["home_town_id", "homeTown_id", "homeTownId", "homeTownID"])
    }

    @Test("A to-many relationship has keys for objects and for IDs")
    func toManyKeys() {
        let relationship = SyncModel.Relationship("tags", to: "Tag", many: true)
        #expect(AttributeNaming.objectKeys(for: relationship) == ["tags"])
        #expect(
            AttributeNaming.idKeys(for: relationship)
                == ["tags_ids", "tagsIds", "tagsIDs", "tag_ids", "tagIds", "tagIDs"])
    }

    @Test("A relationship with a remote key is read from that key only")
    func remoteKeyReplacesOtherKeys() {
        let relationship = SyncModel.Relationship("tags", to: "Tag", many: true, remoteKey: "meta.labels")
        #expect(AttributeNaming.objectKeys(for: relationship) == ["meta.labels"])
        #expect(AttributeNaming.idKeys(for: relationship).isEmpty)
    }
}
