import SyncCore
import Testing

@testable import SyncTesting

/// A step that passes, and the same step with a wrong expectation.
struct SpoiledStep: Sendable, CustomTestStringConvertible {
    var good: JSONValue
    var spoiled: JSONValue
    var testDescription: String { spoiled.scenarioText }

    init(_ good: JSONValue, _ spoiled: JSONValue) {
        self.good = good
        self.spoiled = spoiled
    }
}

@Suite("Wrong expectations")
struct SpoiledExpectationTests {
    /// The steps that fill the store before the step.
    static let setUp: [JSONValue] = [
        ["insert": ["entity": "Label", "values": ["id": 1, "name": "Blue"]]],
        [
            "insert": [
                "entity": "Band",
                "values": [
                    "id": 1, "name": "Trio", "foundedAt": "1970-01-01T00:00:00.500Z",
                    "label": ["entity": "Label", "id": 1],
                ],
            ]
        ],
        ["insert": ["entity": "Band", "values": ["id": 2, "name": "Duo"]]],
        ["insert": ["entity": "Song", "values": ["id": "b", "band": ["entity": "Band", "id": 1]]]],
        ["insert": ["entity": "Song", "values": ["id": "a", "band": ["entity": "Band", "where": "id == 1"]]]],
    ]

    /// Returns a step that expects values of a band.
    static func expect(_ values: JSONValue, where predicate: JSONValue = "id == 1") -> JSONValue {
        ["expect": values, "entity": "Band", "where": predicate]
    }

    static let expectations: [SpoiledStep] = [
        SpoiledStep(expect(["name": "Trio"]), expect(["name": "trio"])),
        SpoiledStep(expect(["name": "Trio"]), expect(["name": nil])),
        SpoiledStep(expect(["foundedAt": nil], where: "id == 2"), expect(["foundedAt": ""], where: "id == 2")),
        SpoiledStep(
            expect(["foundedAt": "1970-01-01T00:00:00.500Z"]), expect(["foundedAt": "1970-01-01T00:00:00Z"])),
        SpoiledStep(expect(["label": ["name": "Blue"]]), expect(["label": ["name": "Red"]])),
        SpoiledStep(expect(["label": ["name": "Blue"]]), expect(["label": nil])),
        SpoiledStep(expect(["label": nil], where: "id == 2"), expect(["label": [:]], where: "id == 2")),
        SpoiledStep(expect(["songs": ["count": 2]]), expect(["songs": ["count": 3]])),
        SpoiledStep(expect(["songs": ["ids": ["a", "b"]]]), expect(["songs": ["ids": ["a"]]])),
        SpoiledStep(expect(["songs": ["orderedIDs": ["b", "a"]]]), expect(["songs": ["orderedIDs": ["a", "b"]]])),
        SpoiledStep(expect(["id": 1]), expect(["title": "x"])),
        // The predicate is part of the expectation: it must find exactly one row.
        SpoiledStep(expect([:]), expect([:], where: "id == 3")),
        SpoiledStep(expect([:]), expect([:], where: "id < 3")),
        SpoiledStep(["expectCount": 2, "entity": "Band"], ["expectCount": 3, "entity": "Band"]),
        SpoiledStep(
            ["expectCount": 1, "entity": "Band", "where": "id == 1"],
            ["expectCount": 1, "entity": "Band", "where": "id == 3"]),
    ]

    /// Returns a step that expects a band of a name in the export of the label.
    static func export(band: JSONValue) -> JSONValue {
        let songs: JSONValue = [["id": "a", "title": nil], ["id": "b", "title": nil]]
        let band: JSONValue = ["id": 1, "name": band, "founded_at": "1970-01-01T00:00:00.500Z", "songs": songs]
        return ["export": ["entity": "Label"], "is": ["id": 1, "name": "Blue", "bands": [band]]]
    }

    /// Returns a step that expects songs of the first band, without their titles.
    static func exportSongs(_ songs: [[String: JSONValue]], ordered: Bool = false) -> JSONValue {
        let songs = songs.map { JSONValue.object([.init("title", nil)] + $0.map { .init($0.key, $0.value) }) }
        let band: JSONValue = [
            "id": 1, "name": "Trio", "foundedAt": "1970-01-01T00:00:00.500Z",
            "label": ["id": 1, "name": "Blue"], "songs": .array(songs),
        ]
        let call: JSONValue = ["entity": "Band", "where": "id == 1", "options": ["case": "camel"]]
        return ["export": call, "is": band, "ordered": .bool(ordered)]
    }

    static let fetches: [SpoiledStep] = [
        SpoiledStep(
            ["fetch": ["entity": "Band", "id": 1], "is": ["name": "Trio"]],
            ["fetch": ["entity": "Band", "id": 1], "is": ["name": "Duo"]]),
        SpoiledStep(
            ["fetch": ["entity": "Band", "id": 1], "is": ["name": "Trio"]],
            ["fetch": ["entity": "Band", "id": 1], "is": nil]),
        SpoiledStep(
            ["fetch": ["entity": "Band", "id": 3], "is": nil], ["fetch": ["entity": "Band", "id": 3], "is": [:]]),
        SpoiledStep(export(band: "Trio"), export(band: "Duo")),
        SpoiledStep(
            ["export": ["entity": "Label", "options": ["relationships": "none"]], "is": ["id": 1, "name": "Blue"]],
            ["export": ["entity": "Label", "options": ["relationships": "none"]], "is": ["id": 1, "name": "Red"]]),
        SpoiledStep(exportSongs([["id": "a"], ["id": "b"]]), exportSongs([["id": "a"]])),
        SpoiledStep(
            exportSongs([["id": "b"], ["id": "a"]], ordered: true),
            exportSongs([["id": "a"], ["id": "b"]], ordered: true)),
        // An object expects exactly one row, an array all rows.
        SpoiledStep(
            ["export": ["entity": "Label", "options": ["relationships": "none"]], "is": [["name": "Blue", "id": 1]]],
            ["export": ["entity": "Band", "options": ["relationships": "none"]], "is": ["id": 1]]),
        SpoiledStep(
            ["update": ["entity": "Band", "id": 2, "values": [:]], "returns": 2],
            ["update": ["entity": "Band", "id": 2, "values": [:]], "returns": nil]),
        SpoiledStep(
            ["update": ["entity": "Band", "id": 3, "values": [:]], "returns": nil],
            ["update": ["entity": "Band", "id": 3, "values": [:]], "returns": 3]),
    ]

    static let sync: JSONValue = [["id": 1, "name": "Trio"], ["id": 3]]

    static let writes: [SpoiledStep] = [
        SpoiledStep(
            ["sync": sync, "entity": "Band", "changes": ["inserted": 1, "updated": 1, "deleted": 1]],
            ["sync": sync, "entity": "Band", "changes": ["inserted": 2, "updated": 1, "deleted": 1]]),
        SpoiledStep(
            ["sync": sync, "entity": "Band", "changes": ["updated": 1]],
            ["sync": sync, "entity": "Band", "changes": ["updated": 0]]),
        SpoiledStep(
            ["sync": sync, "entity": "Band", "changes": ["deleted": 1]],
            ["sync": sync, "entity": "Band", "changes": ["deleted": 0]]),
        SpoiledStep(
            ["sync": sync, "entity": "Band", "result": ["entities": ["Band": ["inserted": [3], "deleted": [2]]]]],
            ["sync": sync, "entity": "Band", "result": ["entities": ["Band": ["inserted": [3], "deleted": []]]]]),
        SpoiledStep(
            ["sync": sync, "entity": "Band", "result": ["linksAdded": 0, "diagnostics": []]],
            ["sync": sync, "entity": "Band", "result": ["linksAdded": 1, "diagnostics": []]]),
        SpoiledStep(
            ["sync": sync, "entity": "Band", "options": ["maxDelete": 0], "expectError": "deletion guard"],
            ["sync": sync, "entity": "Band", "options": ["maxDelete": 1], "expectError": "deletion guard"]),
        SpoiledStep(
            ["sync": [["id": 3]], "entity": "Band", "options": ["payload": "delta"], "changes": ["deleted": 0]],
            ["sync": [["id": 3]], "entity": "Band", "changes": ["deleted": 0]]),
        SpoiledStep(
            ["sync": [[["id": 1]], [["id": 2]]], "entity": "Band", "pages": true, "noWrites": true],
            ["sync": [[["id": 1]], [["id": 3]]], "entity": "Band", "pages": true, "noWrites": true]),
        SpoiledStep(
            ["sync": [["id": 1, "name": []]], "entity": "Band", "options": ["strict": true], "expectError": "strict"],
            ["sync": [["id": 1, "name": []]], "entity": "Band", "expectError": "strict"]),
        SpoiledStep(
            ["sync": [["id": 1], ["id": 2]], "entity": "Band", "noWrites": true],
            ["sync": [["id": 1], ["id": 2, "name": "Due"]], "entity": "Band", "noWrites": true]),
        SpoiledStep(
            ["fetch": ["entity": "Band", "id": 1], "is": [:], "noWrites": true],
            ["insert": ["entity": "Band", "values": [:]], "noWrites": true]),
        SpoiledStep(
            ["sync": [["id": 1], 7], "entity": "Band", "expectError": "record expected"],
            ["sync": [["id": 1]], "entity": "Band", "expectError": "record expected"]),
        SpoiledStep(
            ["insert": ["entity": "Band", "values": ["id": 1]], "expectError": "key taken"],
            ["insert": ["entity": "Band", "values": ["id": 3]], "expectError": "key taken"]),
        SpoiledStep(
            ["expectCount": 0, "entity": "Bend", "expectError": "unknown entity"],
            ["expectCount": 0, "entity": "Bend"]),
    ]

    @Test("A wrong expectation of a step fails the case", arguments: expectations + fetches + writes)
    func wrongStep(_ step: SpoiledStep) async throws {
        let folder = try ScenarioFolder()
        let good = try await folder.run(["model": "model.json", "steps": .array(Self.setUp + [step.good])])
        #expect(good?.outcome == .passed, "\(good?.description ?? "")")
        let spoiled = try await folder.run(["model": "model.json", "steps": .array(Self.setUp + [step.spoiled])])
        #expect(spoiled?.outcome == .failed)
        #expect(spoiled?.failures.map(\.step) == [Self.setUp.count + 1])
    }

    static let functions: [SpoiledStep] = [
        SpoiledStep(
            ["function": "snakeCase", "in": "driverID", "out": "driver_id"],
            ["function": "snakeCase", "in": "driverID", "out": "driverID"]),
        SpoiledStep(
            ["function": "camelCase", "in": "driver_id", "out": "driverID"],
            ["function": "camelCase", "in": "driver_id", "out": "driver_id"]),
        SpoiledStep(
            ["function": "parseDate", "in": 1.5, "out": "1970-01-01T00:00:01.500Z"],
            ["function": "parseDate", "in": 1.5, "out": "1970-01-01T00:00:01Z"]),
        SpoiledStep(
            ["function": "parseDate", "in": "soon", "out": nil],
            ["function": "parseDate", "in": "soon", "out": "1970-01-01T00:00:01Z"]),
        SpoiledStep(
            [
                "function": "primaryKey", "model": "model.json", "entity": "Venue", "local": "venueID",
                "remote": "venue_id", "type": "integer",
            ],
            ["function": "primaryKey", "model": "model.json", "entity": "Venue", "local": "venueID", "remote": "id"]),
        SpoiledStep(
            [
                "function": "primaryKey", "model": "model.json", "entity": "Venue", "local": "venueID",
                "remote": "venue_id",
            ],
            ["function": "primaryKey", "model": "model.json", "entity": "Venue", "local": nil, "remote": "venue_id"]),
        SpoiledStep(
            [
                "function": "remoteKey", "model": "model.json", "entity": "Venue", "attribute": "hallName",
                "case": "snake", "out": "hall_name",
            ],
            [
                "function": "remoteKey", "model": "model.json", "entity": "Venue", "attribute": "hallName",
                "case": "camel", "out": "hall_name",
            ]),
        SpoiledStep(
            [
                "function": "attributeForKey", "model": "model.json", "entity": "Venue", "key": "hall_name",
                "out": "hallName",
            ],
            ["function": "attributeForKey", "model": "model.json", "entity": "Venue", "key": "hall_name", "out": nil]),
        SpoiledStep(
            ["function": "rootScope", "model": "model.json", "entity": "Venue", "out": "parent"],
            ["function": "rootScope", "model": "model.json", "entity": "Venue", "out": nil]),
    ]

    @Test("A wrong expectation of a function fails the case", arguments: functions)
    func wrongFunction(_ function: SpoiledStep) async throws {
        let folder = try ScenarioFolder()
        let good = try await folder.run(function.good)
        #expect(good?.outcome == .passed, "\(good?.description ?? "")")
        let spoiled = try await folder.run(function.spoiled)
        #expect(spoiled?.outcome == .failed)
        #expect(spoiled?.failures.isEmpty == false)
    }
}
