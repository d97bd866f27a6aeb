import Foundation
import SyncCore
import SyncTools
import Testing

/// Evolution reads the keys of samples as a sync does.
@Suite("Model evolution of nested records and subentities")
struct RoutedEvolutionTests {
    private static let kinds = """
        {"entities": {
          "P": {"attributes": {"id": "integer", "n": "string"},
            "discriminator": {"key": "type", "values": {"q": "Q", "r": "R", "s": "S"}}},
          "Q": {"parent": "P", "attributes": {"x": "integer"}},
          "R": {"parent": "P", "attributes": {"y": "string"}, "relationships": {"o": {"entity": "O"}}},
          "S": {"parent": "R", "attributes": {"z": "integer"}},
          "O": {"attributes": {"id": "integer"},
            "relationships": {"ps": {"entity": "P", "many": true}, "p": {"entity": "P"}}}}}
        """

    /// Returns the notes of an evolution. A second evolution by the same sample must have none.
    private func notes(
        _ model: String, _ json: String, _ entity: String, form: PayloadFormat = .json,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> [String] {
        let sample = InferenceSample(Data(json.utf8), entity: entity, form: form)
        let found = try ModelEvolution(of: SyncModel(schemaData: Data(model.utf8)), by: [sample])
        let again = try ModelEvolution(of: found.model, by: [sample])
        #expect(again.notes.isEmpty, "\(again.notes)", sourceLocation: sourceLocation)
        return found.notes.map(\.description)
    }

    @Test(
        "Keys that subentities read are not new, at the root and in nested records",
        arguments: [
            ("P", #"[{"id": 1, "type": "q", "n": "a", "x": 1}, {"id": 2, "type": "r", "y": "s", "o": {"id": 1}}]"#),
            ("P", #"[{"id": 1, "x": 1}, {"id": 2, "type": "unknown", "y": "s", "o": {"id": 1}}]"#),
            ("P", #"[{"id": 2, "type": "q"}]"#), ("Q", #"[{"id": 1, "type": "q", "n": "a", "x": 1}]"#),
            ("O", #"[{"id": 1, "ps": [{"id": 1, "type": "q", "x": 1}, {"id": 2, "type": "r", "y": "s"}]}]"#),
            ("O", #"[{"id": 1, "p_type": "q", "p": {"id": 1, "x": 1}}, {"id": 2, "p_type": "r", "p_id": 2}]"#),
        ])
    func knowsKeysOfSubentities(entity: String, json: String) throws {
        #expect(try notes(Self.kinds, json, entity) == [])
    }

    @Test(
        "A new key of records of one subentity is added to it, and a key of several to their common ancestor",
        arguments: [
            (#"{"id": 1, "type": "q", "w": 1}"#, ["Q.w: integer, new"]),
            (#"{"id": 1, "type": "q", "w": 1}, {"id": 2, "type": "s", "w": 1.5}"#, ["P.w: double, new"]),
            (#"{"id": 1, "type": "r", "w": 1}, {"id": 2, "type": "s", "w": "a"}"#, ["R.w: string, new"]),
            (#"{"id": 1, "w": 1}, {"id": 2, "type": "s", "w": 2}"#, ["P.w: integer, new"]),
            (#"{"id": 1, "type": "q", "x": "a"}"#, ["Q.x: string, was integer"]),
            (#"{"id": 1, "type": "s", "n": {"a": 1}}"#, ["P.n: json, was string"]),
            (#"{"id": 1, "type": "q", "z": 1}"#, ["Q.z: integer, new"]),
            (#"{"id": 1, "type": "q", "z": "a"}"#, ["Q.z2: string, new"]),
        ])
    func addsKeysToSubentities(records: String, expected: [String]) throws {
        #expect(try notes(Self.kinds, "[\(records)]", "P") == expected)
        #expect(try notes(Self.kinds, #"[{"id": 1, "ps": [\#(records)]}]"#, "O") == expected)
    }

    @Test(
        "Subentities with a key that a sibling reads have one attribute, that of the sibling if it has the type",
        arguments: [("1", "2", "x: integer, new"), (#""a""#, #""b""#, "x2: string, new")])
    func sharesAttributes(first: String, second: String, added: String) throws {
        let model = """
            {"entities": {
              "P": {"attributes": {"id": "integer"},
                "discriminator": {"key": "type", "values": {"q": "Q", "r": "R", "s": "S"}}},
              "Q": {"parent": "P"}, "R": {"parent": "P"}, "S": {"parent": "P", "attributes": {"x": "integer"}}}}
            """
        let json = #"[{"id": 1, "type": "q", "x": \#(first)}, {"id": 2, "type": "r", "x": \#(second)}]"#
        #expect(try notes(model, json, "P").sorted() == ["Q.\(added)", "R.\(added)"])
    }

    @Test("An attribute that a subentity gets from a sibling is widened with it")
    func widensAddedAttributes() throws {
        let json = #"[{"id": 1, "type": "q", "x": "a", "z": 1}, {"id": 2, "type": "s", "z": 1.5}]"#
        #expect(
            try notes(Self.kinds, json, "P").sorted() == [
                "Q.x: string, was integer", "Q.z: integer, new", "S.z: double, was integer",
            ])
    }

    @Test("The discriminator of an ancestor is not a new key of a subentity with its own discriminator")
    func knowsDiscriminatorsOfAncestors() throws {
        let model = """
            {"entities": {
              "P": {"attributes": {"id": "integer"}, "discriminator": {"key": "type", "values": {"q": "Q"}}},
              "Q": {"parent": "P", "discriminator": {"key": "rank.name", "values": {"r": "R"}, "otherwise": "parent"}},
              "R": {"parent": "Q", "attributes": {"y": "integer"}}}}
            """
        let json = #"[{"id": 1, "type": "q", "rank": {"name": "r"}, "y": 1}, {"id": 2, "type": "q"}]"#
        #expect(try notes(model, json, "P") == [])
        #expect(try notes(model, json, "Q") == [])
    }

    @Test("Keys of a record that remote keys of its owner also lead into are keys of the record only")
    func knowsKeysOfRecordsWithRemoteKeys() throws {
        let model = """
            {"entities": {
              "P": {
                "attributes": {"id": "integer", "n": {"type": "string", "remoteKey": "o.n"},
                  "k": {"type": "string", "remoteKey": "o.s.n"}},
                "relationships": {"o": {"entity": "O"}, "s": {"entity": "O", "remoteKey": "o.s"}}},
              "O": {"attributes": {"id": "integer", "n": "string"}, "relationships": {"s": {"entity": "O"}}}}}
            """
        let json = #"[{"id": 1, "o": {"id": 7, "n": "a", "s": {"id": 8, "n": "b"}}}]"#
        #expect(try notes(model, json, "P") == [])
        let more = #"[{"id": 1, "o": {"id": 7, "x": 1, "s": {"id": 8, "y": 2}}}]"#
        #expect(try notes(model, more, "P") == ["O.x: integer, new", "O.y: integer, new"])
    }

    @Test("In GraphQL, __typename can be the discriminator, and is never a new key")
    func readsTypeNames() throws {
        let model = Self.kinds.replacing(#""key": "type""#, with: #""key": "__typename""#)
        let json =
            #"{"data": {"ps": {"nodes": [{"__typename": "q", "id": 1, "x": 1, "w": {"__typename": "W", "a": 1}}]}}}"#
        #expect(
            try notes(model, json, "P", form: .graphQL) == ["W: new, with a", "Q.w: to one W, new"])
        let nested = #"{"data": {"o": {"__typename": "O", "id": 1, "ps": {"nodes": [{"__typename": "q", "x": 1}]}}}}"#
        #expect(try notes(model, nested, "O", form: .graphQL) == [])
    }

    private static let rows = """
        {"entities": {
          "U": {"attributes": {"id": "integer", "e": {"type": "string", "remoteKey": "c.e"}},
            "relationships": {"data": {"entity": "Data", "many": true}}},
          "Data": {"attributes": {"id": "integer", "x": "integer"}}}}
        """

    @Test(
        "Records in a relationship of the model are rows, even if inference would take them for plain data",
        arguments: [
            (
                #"{"id": 1, "x": "a", "y": 2}]}, {"id": 2, "data": [{"id": 1, "x": "b"}"#,
                ["Data.x: string, was integer", "Data.y: integer, new"]
            ),
            (
                #"{"id": 1, "x": 2, "z": {"id": 7}}]}, {"id": 2, "data": [{"id": 1, "x": 3}"#,
                ["Z: new, with id", "Data.z: to one Z, new"]
            ),
            (#"{"id": 1, "x": 2}, {"x": 3, "w": 5}"#, ["Data.w: integer, new"]),
            (#"{"x": 3, "w": 5}"#, ["Data.w: integer, new"]), (#"{"id": 1, "w": 5}, 7, [1]"#, ["Data.w: integer, new"]),
        ])
    func readsRows(list: String, expected: [String]) throws {
        #expect(try notes(Self.rows, #"[{"id": 1, "data": [\#(list)]}]"#, "U") == expected)
    }

    @Test(
        "An attribute with objects or mixed values becomes json, and a new key beside a remote path gets its own path",
        arguments: [
            (#""data": [{"id": 1, "x": {"q": 1}}]"#, ["Data.x: json, was integer"]),
            (#""data": [{"id": 1, "x": [{"id": 1}]}]"#, ["Data.x: json, was integer"]),
            (#""data": [{"id": 1, "x": {"id": 1}}, {"id": 2, "x": 5}]"#, ["Data.x: json, was integer"]),
            (#""c": {"e": "a"}"#, []), (#""c": {"e": {"a": 1}}"#, ["U.e: json, was string"]),
            (#""c": {"e": "a", "f": 1}"#, ["U.cF: integer, new"]),
            (#""c": {"e": "a", "o": {"id": 1}}"#, ["CO: new, with id", "U.cO: to one CO, new"]),
            (#""c": {"": 1}, "": 1"#, []),
        ])
    func readsValues(members: String, expected: [String]) throws {
        #expect(try notes(Self.rows, #"[{"id": 1, \#(members)}]"#, "U") == expected)
    }

    @Test("A new key beside a remote path is read from that path")
    func addsRemotePath() throws {
        let sample = InferenceSample(Data(#"[{"id": 1, "c": {"e": "a", "f": 1, "o": {"id": 1}}}]"#.utf8), entity: "U")
        let user = try ModelEvolution(of: SyncModel(schemaData: Data(Self.rows.utf8)), by: [sample]).model
            .entity(named: "U")
        #expect(user?.attributes.compactMap(\.remoteKey) == ["c.e", "c.f"])
        #expect(user?.relationships.compactMap(\.remoteKey) == ["c.o"])
    }

    @Test("Attributes of siblings that share a column are widened together")
    func widensSharedColumns() throws {
        let model = """
            {"entities": {
              "P": {"attributes": {"id": "integer"}, "discriminator": {"key": "type", "values": {"q": "Q", "r": "R"}}},
              "Q": {"parent": "P", "attributes": {"x": "integer"}},
              "R": {"parent": "P", "attributes": {"x": "integer"}}}}
            """
        let json = #"[{"id": 1, "type": "q", "x": "a"}, {"id": 2, "type": "r", "x": 1}]"#
        #expect(try notes(model, json, "P") == ["Q.x: string, was integer"])
    }
}
