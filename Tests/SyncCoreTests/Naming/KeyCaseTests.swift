import Testing

@testable import SyncCore

@Suite("Key case")
struct KeyCaseTests {
    @Test(
        "Each key case joins the words of a name and keeps its capitals",
        arguments: [
            ("firstName", ["first_name", "firstName", "FirstName", "first-name"]),
            ("first_name", ["first_name", "firstName", "FirstName", "first-name"]),
            ("userID", ["user_id", "userID", "UserID", "user-id"]),
            ("userId", ["user_id", "userId", "UserId", "user-id"]),
            ("id", ["id", "id", "Id", "id"]), ("ID", ["id", "id", "ID", "id"]),
            ("address1", ["address1", "address1", "Address1", "address1"]),
            ("imageURLString", ["image_url_string", "imageURLString", "ImageURLString", "image-url-string"]),
            ("_rev", ["_rev", "_rev", "_Rev", "_rev"]), ("tagIDs", ["tag_ids", "tagIDs", "TagIDs", "tag-ids"]),
            ("éclair", ["éclair", "éclair", "Éclair", "éclair"]),
        ])
    func joinsWords(name: String, keys: [String]) {
        #expect([KeyCase.snake, .camel, .pascal, .kebab].map { $0.key(for: name) } == keys)
        #expect(KeyCase.exact.key(for: name) == name)
    }

    private func model(_ keys: KeyCase?) throws -> SyncModel {
        try SyncModel(
            entities: [
                SyncModel.Entity(
                    "User",
                    attributes: [
                        SyncModel.Attribute("remoteID", .integer), SyncModel.Attribute("firstName", .string),
                        SyncModel.Attribute("userType", .string),
                        SyncModel.Attribute("managerID", .integer),
                        SyncModel.Attribute("mail", .string, remoteKey: "E-Mail"),
                    ],
                    relationships: [
                        SyncModel.Relationship("homeTown", to: "User"),
                        SyncModel.Relationship("bestFriends", to: "User", many: true),
                    ])
            ], keyCase: keys)
    }

    @Test(
        "Attributes are read from keys in the declared case and in the usual spellings",
        arguments: [
            (KeyCase.kebab, ["id", "first-name", "type", "manager-id", "E-Mail"]),
            (.pascal, ["Id", "FirstName", "Type", "ManagerID", "E-Mail"]),
            (.pascal, ["id", "first_name", "UserType", "ManagerId", "mail"]),
            (.camel, ["id", "firstName", "type", "managerId", "E-Mail"]),
            (.snake, ["id", "first_name", "type", "manager_id", "E-Mail"]),
            (.exact, ["remoteID", "firstName", "userType", "managerID", "E-Mail"]),
        ])
    func readsDeclaredAndUsualSpellings(keys: KeyCase, read: [String]) throws {
        let found = try read.map { try model(keys).attribute(forKey: $0, in: "User") }
        #expect(found == ["remoteID", "firstName", "userType", "managerID", "mail"])
    }

    @Test(
        "The case exact ignores every other spelling",
        arguments: ["id", "first_name", "type", "managerId", "manager_id"])
    func exactIgnoresOtherSpellings(key: String) throws {
        #expect(try model(.exact).attribute(forKey: key, in: "User") == nil)
    }

    @Test(
        "The key case applies to relationships and their IDs",
        arguments: [
            (KeyCase.kebab, "home-town", "home-town-id", "best-friends", "best-friend-ids"),
            (.pascal, "HomeTown", "HomeTownId", "BestFriends", "BestFriendIds"),
            (.pascal, "home_town", "HomeTownID", "bestFriends", "BestFriendIDs"),
            (.camel, "homeTown", "homeTownId", "bestFriends", "bestFriendIds"),
            (.exact, "homeTown", "homeTown_id", "bestFriends", "bestFriendsIds"),
        ])
    func appliesToRelationships(keys: KeyCase, town: String, townID: String, friends: String, friendIDs: String) throws
    {
        let model = try model(keys)
        let names = model.compiled.names(of: try model.compiled.entity(named: "User"))
        #expect(names.relationships(readFrom: town).map(\.index) == [0])
        #expect(names.relationships(readFrom: town).map(\.isForIDs) == [false])
        #expect(names.relationships(readFrom: townID).map(\.isForIDs) == [true])
        #expect(names.relationships(readFrom: friends).map(\.index) == [1])
        #expect(names.relationships(readFrom: friendIDs).map(\.isForIDs) == [true])
    }

    @Test("Subentities inherit the key case, and add to the ignored keys")
    func inheritsKeyCaseAndIgnoredKeys() throws {
        let model = try SyncModel(
            entities: [
                SyncModel.Entity(
                    "A", attributes: [SyncModel.Attribute("id", .integer)], keyCase: .kebab, ignoredKeys: ["a"]),
                SyncModel.Entity("B", parent: "A", ignoredKeys: ["b"]),
                SyncModel.Entity("C", parent: "B", keyCase: .exact),
                SyncModel.Entity("D"),
            ], keyCase: .pascal, ignoredKeys: ["m"])
        let rules = try ["A", "B", "C", "D"].map { model.compiled.rules(of: try model.compiled.entity(named: $0)) }
        #expect(rules.map(\.keys) == [.kebab, .kebab, .exact, .pascal])
        #expect(
            rules.map { rules in ["a", "b", "m"].filter { rules.ignored.contains($0) } } == [
                ["a", "m"], ["a", "b", "m"], ["a", "b", "m"], ["m"],
            ])
        #expect(try model.primaryKey(of: "A")?.remote == "id")
    }

    @Test(
        "The key case applies to the primary key",
        arguments: [(KeyCase.pascal, "Id"), (.kebab, "id"), (.exact, "remoteID")])
    func appliesToPrimaryKey(keys: KeyCase, remote: String) throws {
        #expect(try model(keys).primaryKey(of: "User")?.remote == remote)
        #expect(try model(keys).remoteKey(forAttribute: "remoteID", of: "User") == remote)
    }
}

@Suite("Ignored keys")
struct IgnoredKeysTests {
    @Test(
        "An ignore pattern matches a key at any depth, or a path from the root",
        arguments: [
            ("*_url", "html_url", true), ("*_url", "url", false), ("*_url", "a.b.html_url", true),
            ("node_?d", "node_id", true),
            ("node_?d", "node_idd", false), ("meta", "meta", true), ("meta", "a.meta", true),
            ("meta.trace", "meta.trace", true),
            ("meta.trace", "trace", false), ("meta.trace", "x.meta.trace", false), ("*.trace", "meta.trace", true),
            ("*.trace", "a.b.trace", false), ("meta.*", "meta", true), ("meta.*", "meta.x", true),
            ("meta.*", "meta.x.y", false),
            ("*", "anything", true), ("a\\*", "a*", true), ("a\\*", "ab", false), ("URL", "url", false),
            ("été", "été", true),
        ])
    func patternMatchesKeyOrPath(pattern: String, path: String, isIgnored: Bool) {
        let keys = path.split(separator: ".").map(String.init)
        let ignored = IgnoredKeys([pattern])
        #expect(ignored.contains(keys.last ?? "", path: Array(keys.dropLast())) == isIgnored)
    }

    @Test("Ignored keys exclude loose spellings, but not keys that the model names")
    func ignoresLooseSpellingsOnly() throws {
        let model = try SyncModel(entities: [
            SyncModel.Entity(
                "User",
                attributes: [
                    SyncModel.Attribute("id", .integer), SyncModel.Attribute("avatarURL", .url),
                    SyncModel.Attribute("mail", .string, remoteKey: "e_mail"),
                ],
                relationships: [SyncModel.Relationship("company", to: "User")],
                ignoredKeys: [
                    "*_url", "_id", "avatarUrl", "avatar_url", "id", "e_mail", "mail", "company", "company_id", "comp*",
                ])
        ])
        func attribute(_ key: String) throws -> String? { try model.attribute(forKey: key, in: "User") }
        #expect(try attribute("avatar_url") == "avatarURL")
        #expect(try attribute("avatarURL") == "avatarURL")
        #expect(try attribute("avatarUrl") == nil)
        #expect(try attribute("_id") == nil)
        #expect(try attribute("id") == "id")
        #expect(try attribute("e_mail") == "mail")
        #expect(try attribute("mail") == "mail")
        let names = model.compiled.names(of: try model.compiled.entity(named: "User"))
        #expect(names.relationships(readFrom: "company").count == 1)
        #expect(names.relationships(readFrom: "company_id").isEmpty)
        #expect(names.relationships(readFrom: "companyId").count == 1)
    }
}
