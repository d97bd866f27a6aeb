import SyncCore
import Testing

@Suite("Naming")
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
                    // Each of these could take `total`, in this order of strength the other way round.
                    SyncModel.Attribute("remoteID", .string), SyncModel.Attribute("total", .integer),
                    SyncModel.Attribute("sum", .integer, remoteKey: "total"),
                    SyncModel.Attribute("userId", .integer), SyncModel.Attribute("user_id", .integer),
                    SyncModel.Attribute("id", .string), SyncModel.Attribute("type", .string),
                    SyncModel.Attribute("clashType", .string),
                ]),
        ])
    }

    @Test(
        "finds the attribute that a key fills",
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
    func attribute(entity: String, key: String, expected: String) throws {
        #expect(try model.attribute(forKey: key, in: entity) == expected)
    }

    @Test("finds none for other keys", arguments: ["nickName", "nick", "email_address", "contact", "", "school"])
    func noAttribute(key: String) throws {
        #expect(try model.attribute(forKey: key, in: "Person") == nil)
    }

    @Test("ranks the ways in which a key can fill an attribute")
    func strengths() throws {
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
        "names attributes in exports",
        arguments: [
            ("Person", "remoteID", "id"), ("Person", "firstName", "first_name"),
            ("Person", "contractID", "contract_id"),
            ("Person", "nick_name", "nick_name"), ("Person", "email", "contact.email_address"),
            ("Person", "personType", "type"), ("Person", "personDescription", "description"),
            ("Person", "rawSigned", "signed"), ("Person", "personSigned", "person_signed"),
            ("Person", "destroy", "destroy"), ("Student", "personType", "type"), ("Clash", "id", "id"),
            ("Clash", "remoteID", "remote_id"), ("Clash", "clashType", "clash_type"),
        ])
    func exportedKey(entity: String, attribute: String, expected: String) throws {
        #expect(try model.remoteKey(forAttribute: attribute, of: entity) == expected)
    }

    @Test("names attributes in camelCase and nested exports")
    func exportedKeyVariants() throws {
        #expect(try model.remoteKey(forAttribute: "firstName", of: "Person", case: .camel) == "firstName")
        #expect(try model.remoteKey(forAttribute: "remoteID", of: "Person", case: .camel) == "id")
        #expect(try model.remoteKey(forAttribute: "personType", of: "Person", case: .camel) == "type")
        #expect(try model.remoteKey(forAttribute: "age", of: "Person", case: .camel) == "age_of_person")
        #expect(try model.remoteKey(forAttribute: "destroy", of: "Person", nested: true) == "_destroy")
        #expect(try model.remoteKey(forAttribute: "destroy", of: "Person", case: .camel, nested: true) == "_destroy")
    }

    @Test(
        "reads every exported key back into its attribute", arguments: ["Person", "Student"], [KeyCase.snake, .camel])
    func exportedKeysFillTheirAttributes(entity: String, keyCase: KeyCase) throws {
        let names = try model.compiled.entity(named: entity).slotByName.keys
        for name in names {
            let key = try model.remoteKey(forAttribute: name, of: entity, case: keyCase)
            #expect(try model.attribute(forKey: key, in: entity) == name, "\(key)")
        }
    }

    @Test("reads every key of its own spelling back", arguments: ["Person", "Student"], KeyCase.allCases)
    func spelledKeysFillTheirAttributes(entity: String, keyCase: KeyCase) throws {
        let model = try SyncModel(entities: model.entities, keys: keyCase)
        for name in try model.compiled.entity(named: entity).slotByName.keys {
            let key = try model.remoteKey(forAttribute: name, of: entity)
            #expect(try model.attribute(forKey: key, in: entity) == name, "\(key)")
        }
    }

    @Test("refuses unknown names")
    func unknownNames() {
        #expect(throws: SyncError.self) { try model.attribute(forKey: "id", in: "Nobody") }
        let error = #expect(throws: SyncError.self) { try model.remoteKey(forAttribute: "x", of: "Person") }
        #expect(error?.code == .unknownAttribute)
    }

    @Test("lists where objects and ids of a to-one relationship stand")
    func toOneKeys() {
        let relationship = SyncModel.Relationship("homeTown", to: "Town")
        #expect(AttributeNaming.objectKeys(for: relationship) == ["home_town", "homeTown"])
        #expect(
            AttributeNaming.idKeys(for: relationship)
                == ["home_town_id", "homeTown_id", "homeTownId", "homeTownID"])
    }

    @Test("lists where ids of a to-many relationship stand")
    func toManyKeys() {
        let relationship = SyncModel.Relationship("tags", to: "Tag", many: true)
        #expect(AttributeNaming.objectKeys(for: relationship) == ["tags"])
        #expect(
            AttributeNaming.idKeys(for: relationship)
                == ["tags_ids", "tagsIds", "tagsIDs", "tag_ids", "tagIds", "tagIDs"])
    }

    @Test("reads a relationship with a remote key from that key only")
    func customRelationshipKey() {
        let relationship = SyncModel.Relationship("tags", to: "Tag", many: true, remoteKey: "meta.labels")
        #expect(AttributeNaming.objectKeys(for: relationship) == ["meta.labels"])
        #expect(AttributeNaming.idKeys(for: relationship).isEmpty)
    }
}
