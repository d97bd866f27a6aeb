import Foundation
import SyncCore
import Testing

@Suite("Models are checked")
struct ModelValidationTests {
    // MARK: Names

    @Test(
        "for names that tables and columns cannot have",
        arguments: ["", "a\"b", "a.b", "a\u{0}", "a\nb", "sync_x", "Sync_Model", "sqlite_a", "SQLITE_A", "\u{7F}"])
    func names(name: String) throws {
        func isRefused(_ entity: Entity) throws -> Bool {
            let error = try #require(throws: SyncError.self) { try Model(entities: [entity]) }
            return error.code == .invalidModel && error.problems.count == 1
                && ["must not", "reserved"].contains { error.problems[0].message.contains($0) }
        }
        #expect(try isRefused(Entity(name)))
        #expect(try isRefused(Entity("A", attributes: [Attribute(name, .date)])))
        #expect(try isRefused(Entity("A", relationships: [Relationship(name, to: "A")])))
    }

    @Test("and write unusual names into paths as JSON does")
    func paths() throws {
        #expect(try ModelProblems.paths([Entity("a\"b")]) == [#"entities["a\"b"]"#])
        #expect(
            try ModelProblems.paths([Entity("A", attributes: [Attribute("", .date)])]) == [
                #"entities.A.attributes[""]"#
            ])
        #expect(try ModelProblems.paths([Entity("sync_x")]) == ["entities.sync_x"])
    }

    @Test("but names may be unusual", arguments: ["Ünïcode", "with blank", "select", "1", "syncer", "日本"])
    func unusualNames(name: String) throws {
        let model = try Model(entities: [Entity(name, attributes: [Attribute(name, .date)])])
        #expect(try Model(schema: model.schemaFile()) == model)
    }

    @Test("for names given twice, in any case")
    func duplicates() throws {
        #expect(try ModelProblems.paths([Entity("A"), Entity("A")]) == ["entities.A"])
        #expect(try ModelProblems.paths([Entity("User"), Entity("USER")]) == ["entities.User"])
        let entity = Entity(
            "A",
            attributes: [Attribute("x", .date), Attribute("x", .date), Attribute("y", .date), Attribute("Y", .date)],
            relationships: [Relationship("X", to: "A"), Relationship("z", to: "A"), Relationship("z", to: "A")])
        #expect(
            try ModelProblems.paths([entity]) == [
                "entities.A.attributes.x", "entities.A.attributes.Y", "entities.A.relationships.X",
                "entities.A.relationships.z",
            ])
    }

    @Test("for join tables that would have the name of another table")
    func tableNames() throws {
        let tags = Relationship("tags", to: "Tag", many: true)
        #expect(
            try ModelProblems.paths([Entity("A", relationships: [tags]), Entity("Tag"), Entity("a_TAGS")])
                == ["entities.A.relationships.tags"])
        #expect(throws: Never.self) { try Model(entities: [Entity("A", relationships: [tags]), Entity("Tag")]) }
    }

    // MARK: Inheritance

    @Test("for parents that are unknown or their own descendants")
    func parents() throws {
        #expect(try ModelProblems.paths([Entity("A", parent: "B")]) == ["entities.A.parent"])
        let circle = [
            Entity("A", parent: "B"), Entity("B", parent: "C"), Entity("C", parent: "A"), Entity("D", parent: "A"),
        ]
        #expect(try ModelProblems.paths(circle) == ["entities.A.parent", "entities.B.parent", "entities.C.parent"])
    }

    @Test("for members that are inherited already")
    func redeclared() throws {
        let root = Entity(
            "A", attributes: [Attribute("x", .date)], relationships: [Relationship("r", to: "A", many: true)])
        let leaf = Entity(
            "C", parent: "B", attributes: [Attribute("X", .date)],
            relationships: [Relationship("r", to: "A", many: true)])
        #expect(
            try ModelProblems.paths([root, Entity("B", parent: "A"), leaf])
                == ["entities.C.attributes.X", "entities.C.relationships.r"])
    }

    @Test("for siblings that declare one column in two ways")
    func siblings() throws {
        func problems(_ left: Attribute, _ right: Attribute) -> [SyncError.Problem] {
            let entities = [
                Entity("A"), Entity("B", parent: "A", attributes: [left]),
                Entity("C", parent: "A", attributes: [right]),
            ]
            do {
                _ = try Model(entities: entities)
                return []
            } catch { return (error as? SyncError)?.problems ?? [] }
        }
        let plain = Attribute("x", .integer)
        #expect(problems(plain, plain).isEmpty)
        #expect(problems(plain, Attribute("x", .integer, isPrimaryKey: true, sourceType: "Integer 16")).isEmpty)
        #expect(problems(plain, Attribute("x", .string)).first?.message.hasPrefix("differs in type") ?? false)
        #expect(problems(plain, Attribute("x", .integer, remoteKey: "y")).map(\.path) == ["entities.C.attributes.x"])
        #expect(problems(plain, Attribute("X", .integer)).map(\.path) == ["entities.C.attributes.X"])
        #expect(problems(plain, Attribute("x", .integer, isOptional: false)).count == 1)
        #expect(problems(plain, Attribute("x", .integer, defaultValue: .integer(1))).count == 1)
    }

    @Test("but an abstract entity needs no children")
    func abstract() throws {
        #expect(try Model(entities: [Entity("A", isAbstract: true)]).entities.count == 1)
    }

    // MARK: Keys and defaults

    @Test(
        "for keys that are unknown, contested or of a type that cannot be compared", arguments: AttributeType.allCases)
    func keys(type: AttributeType) throws {
        let declared = Entity("A", primaryKey: "x", attributes: [Attribute("x", type)])
        let marked = Entity("A", attributes: [Attribute("x", type, isPrimaryKey: true)])
        if type.canBeKey {
            #expect(try Model(entities: [declared]).primaryKey(of: "A")?.local == "x")
            #expect(try Model(entities: [marked]).primaryKey(of: "A")?.local == "x")
        } else {
            #expect(try ModelProblems.paths([declared]) == ["entities.A.primaryKey"])
            #expect(try ModelProblems.paths([marked]) == ["entities.A.attributes.x.primaryKey"])
        }
    }

    @Test("for several keys")
    func severalKeys() throws {
        let two = [Attribute("x", .date, isPrimaryKey: true), Attribute("y", .date, isPrimaryKey: true)]
        let together = try Model(entities: [Entity("A", attributes: two)])
        #expect(try together.primaryKeyParts(of: "A").map(\.local) == ["x", "y"])
        #expect(
            try ModelProblems.paths([Entity("A", primaryKey: "z", attributes: [two[0], Attribute("z", .date)])])
                == ["entities.A.attributes.x.primaryKey"])
        #expect(try Model(entities: [Entity("A", primaryKey: "x", attributes: [two[0]])]).entities.count == 1)
        #expect(try ModelProblems.paths([Entity("A", primaryKey: "z")]) == ["entities.A.primaryKey"])
        let inherited = [Entity("A", attributes: [Attribute("x", .date)]), Entity("B", parent: "A", primaryKey: "x")]
        #expect(try Model(entities: inherited).primaryKey(of: "B")?.local == "x")
    }

    @Test("for parts of keys that tell no rows apart, or have no end")
    func keyParts() throws {
        let number = Attribute("number", .integer)
        func paths(_ key: PrimaryKey, _ relationship: Relationship, _ other: Entity) throws -> [String] {
            try ModelProblems.paths(
                [Entity("A", primaryKey: key, attributes: [number], relationships: [relationship]), other])
        }
        let keyed = Entity("B", attributes: [Attribute("id", .integer)])
        let path = ["entities.A.primaryKey"]
        #expect(try paths(["b", "number"], Relationship("b", to: "B", many: true), keyed) == path)
        #expect(try paths(["b", "number", "b"], Relationship("b", to: "B"), keyed) == path)
        #expect(try paths(["b", "missing"], Relationship("b", to: "B"), keyed) == path)
        #expect(try paths([], Relationship("b", to: "B"), keyed) == path)
        #expect(try paths(["b"], Relationship("b", to: "B"), Entity("B")) == path)
        #expect(try paths(["b", "number"], Relationship("b", to: "A"), keyed) == path)
        let oneToOne = Entity(
            "B", attributes: [Attribute("id", .integer)], relationships: [Relationship("a", to: "A", inverse: "b")])
        #expect(try paths(["b", "number"], Relationship("b", to: "B", inverse: "a"), oneToOne) == path)
        #expect(
            try Model(
                entities: [
                    Entity("A", primaryKey: ["b"], relationships: [Relationship("b", to: "B", inverse: "a")]), oneToOne,
                ]
            ).primaryKeyParts(of: "A").map(\.remote) == ["b"])
    }

    @Test("for keys that are made of each other")
    func keyCircles() throws {
        let first = Entity(
            "A", primaryKey: ["b", "x"], attributes: [Attribute("x", .integer)],
            relationships: [Relationship("b", to: "B")])
        let second = Entity(
            "B", primaryKey: ["a", "y"], attributes: [Attribute("y", .integer)],
            relationships: [Relationship("a", to: "A")])
        #expect(try ModelProblems.paths([first, second]) == ["entities.A.primaryKey", "entities.B.primaryKey"])
    }

    @Test("for defaults of another type, or that no store keeps")
    func badDefaults() throws {
        let defaults: [(AttributeType, StoredValue)] = [
            (.integer, .string("1")), (.double, .integer(1)), (.double, .double(.infinity)), (.decimal, .decimal(.nan)),
            (.string, .url("a")), (.url, .url("a b")), (.date, .date(Date(timeIntervalSince1970: 1e15))),
            (.json, .json(.number("one"))), (.transformable, .string("a")), (.binary, .string("AA==")),
        ]
        for (type, value) in defaults {
            let entity = Entity("A", attributes: [Attribute("x", type, defaultValue: value)])
            #expect(try ModelProblems.paths([entity]) == ["entities.A.attributes.x.default"], "\(type) \(value)")
        }
    }

    @Test("and keep defaults as a store gives them back")
    func storedDefaults() throws {
        let model = try Model(entities: [
            Entity(
                "A",
                attributes: [
                    Attribute("x", .date, defaultValue: .date(Date(timeIntervalSince1970: 1.000_4))),
                    Attribute("y", .json, defaultValue: .json(["b": 1, "a": .number("2.50")])),
                    Attribute("z", .string, defaultValue: .null), Attribute("w", .double, defaultValue: .double(-0.0)),
                ])
        ])
        #expect(
            model.entities[0].attributes.map(\.defaultValue)
                == [.date(Date(timeIntervalSince1970: 1)), .json(["a": 2.5, "b": 1]), nil, .double(0)])
        #expect(try Model(schema: model.schemaFile()) == model)
    }

    @Test("for everything at once")
    func several() throws {
        let error = try #require(throws: SyncError.self) {
            try Model(entities: [
                Entity("User", parent: "Nobody", attributes: [Attribute("a", .date, defaultValue: .integer(1))]),
                Entity("sqlite_x", primaryKey: "id", relationships: [Relationship("r", to: "Nothing")]),
            ])
        }
        #expect(
            error.problems.map(\.path) == [
                "entities.sqlite_x", "entities.User.parent", "entities.User.attributes.a.default",
                "entities.sqlite_x.primaryKey", "entities.sqlite_x.relationships.r.entity",
            ])
        #expect(error.message == "the model has 5 problems")
    }
}
