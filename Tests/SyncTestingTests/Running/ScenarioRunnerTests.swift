import Foundation
import SyncCore
import Testing

@testable import SyncTesting

@Suite("Scenario runner")
struct ScenarioRunnerTests {
    static let passing: JSONValue = ["name": "passing", "function": "snakeCase", "in": "aB", "out": "a_b"]
    static let failing: JSONValue = ["name": "failing", "function": "snakeCase", "in": "aB", "out": "ab"]
    static let skipped: JSONValue = [
        "name": "skipped", "needs": ["valueTransformer:X: turns x around"], "function": "snakeCase", "in": "a",
        "out": "a",
    ]

    @Test("A report counts passed, failed and skipped cases with their reasons")
    func counts() async throws {
        let folder = try ScenarioFolder()
        let file = try folder.write([Self.passing, Self.failing, Self.skipped])
        let report = await ScenarioRunner().run(paths: [file])
        #expect(report.summary == "1 passed, 1 failed, 1 skipped")
        #expect(!report.isSuccess)
        #expect(
            report.results.map(\.description) == [
                "passed \(file.path) passing",
                #"failed \#(file.path) failing snakeCase of aB: expected "ab", found "a_b""#,
                "skipped \(file.path) skipped: needs valueTransformer:X",
            ])
        let decoded = try JSONDecoder().decode(ScenarioReport.self, from: try JSONEncoder().encode(report))
        #expect(decoded == report)
    }

    @Test("A run of one case runs only that case")
    func only() async throws {
        let folder = try ScenarioFolder()
        let file = try folder.write([Self.passing, Self.failing])
        #expect(await ScenarioRunner().run(paths: [file], only: "passing").summary == "1 passed, 0 failed, 0 skipped")
        let none = await ScenarioRunner().run(paths: [file], only: "missing")
        #expect(none.summary == "0 passed, 1 failed, 0 skipped")
    }

    @Test("A run reads the files of a folder at any depth, or only those of its folder 'cases'")
    func folders() async throws {
        let folder = try ScenarioFolder()
        try folder.write([Self.passing], to: "scenarios/a/one.json")
        try folder.write([Self.passing], to: "scenarios/b/two.json")
        let deep = await ScenarioRunner().run(paths: [folder.url.appendingPathComponent("scenarios")])
        #expect(deep.results.map { URL(fileURLWithPath: $0.file).lastPathComponent } == ["one.json", "two.json"])
        try folder.write([Self.passing], to: "cases/three.json")
        #expect(await ScenarioRunner().run(paths: [folder.url]).summary == "1 passed, 0 failed, 0 skipped")
    }

    @Test(
        "A run without cases fails",
        arguments: ["missing.json", "missing", "model.json", "broken.json", "empty", "empty.json"])
    func nothingToRun(_ path: String) async throws {
        let folder = try ScenarioFolder()
        try folder.write(text: "{", to: "broken.json")
        try folder.write(text: #"{"format": 1, "cases": []}"#, to: "empty.json")
        try folder.write(text: "", to: "empty/notes.txt")
        let report = await ScenarioRunner().run(paths: [folder.url.appendingPathComponent(path)])
        #expect(report.summary == "0 passed, 1 failed, 0 skipped")
        #expect(await ScenarioRunner().run(paths: []).isSuccess == false)
    }

    @Test("An unknown step fails the case, even if an unmet need would skip it")
    func unknownStep() async throws {
        let folder = try ScenarioFolder()
        let result = try await folder.run([
            "model": "model.json", "needs": ["willInsertHook"], "steps": [["drop": true], ["plan": [:]]],
        ])
        #expect(result?.outcome == .failed)
        #expect(result?.failures.map(\.step) == [2])
    }

    @Test("A missing model or payload fails the case, even in a step that expects an error")
    func missingFiles() async throws {
        let folder = try ScenarioFolder()
        let model = try await folder.run(["model": "none.json", "steps": [["drop": true]]])
        #expect(model?.outcome == .failed)
        let payload = try await folder.run([
            "model": "model.json", "steps": [["sync": "none.json", "entity": "Band", "expectError": "any"]],
        ])
        #expect(payload?.outcome == .failed)
        #expect(payload?.failures.first?.step == 1)
    }

    @Test(
        "A case runs if its needs are met, and is skipped otherwise",
        arguments: ["onDisk", "backgroundWrite: in the background"])
    func unmetNeeds(_ need: String) async throws {
        let folder = try ScenarioFolder()
        let fields: JSONValue = [
            "model": "model.json", "needs": [.string(need)],
            "steps": [
                ["insert": ["entity": "Label", "values": ["id": 1]]], ["expectCount": 1, "entity": "Label"],
                ["drop": true], ["expectCount": 0, "entity": "Label"],
            ],
        ]
        #expect(try await folder.run(fields)?.outcome == .passed)
        #expect(try await folder.run(fields, features: ScenarioFeatures(names: []))?.outcome == .skipped)
    }

    @Test("All cases of a file run in parallel if one needs concurrency")
    func concurrency() async throws {
        let folder = try ScenarioFolder()
        let parallel: JSONValue = [
            "name": "parallel", "needs": ["concurrency"], "function": "camelCase", "in": "a_b", "out": "aB",
        ]
        let good = try folder.write([Self.passing, Self.skipped, parallel], to: "good.json")
        #expect(await ScenarioRunner().run(paths: [good]).summary == "2 passed, 0 failed, 1 skipped")
        let bad = try folder.write([Self.failing, parallel], to: "bad.json")
        #expect(await ScenarioRunner().run(paths: [bad]).summary == "0 passed, 2 failed, 0 skipped")
    }

    @Test("A list without keys is a sync without changes, and fails if changes are expected")
    func listWithoutKeys() async throws {
        let folder = try ScenarioFolder()
        let list: JSONValue = [["name": "Trio", "songs": [["id": "a"]]], ["id": ["x": 1]]]
        for (payload, changes, outcome) in [
            (list, ["inserted": 0, "updated": 0, "deleted": 0], .passed), (list, ["inserted": 1], .failed),
            (["message": "Bad credentials"], ["inserted": 0], .failed), (["id": 2], ["inserted": 1], .passed),
        ] as [(JSONValue, JSONValue, ScenarioReport.Outcome)] {
            let sync: JSONValue = ["sync": payload, "entity": "Band", "changes": changes]
            let steps: JSONValue = [
                ["sync": [["id": 1]], "entity": "Band"], sync, ["expectCount": 0, "entity": "Song"],
            ]
            for options in [ScenarioRunner.Options(), .init(repeatsSyncs: true, checksReference: true)] {
                let result = try await folder.run(["model": "model.json", "steps": steps], options: options)
                #expect(result?.outcome == outcome, "\(result?.description ?? "")")
            }
        }
    }

    @Test("Repeating each sync does not disturb later steps")
    func repeatedSyncs() async throws {
        let folder = try ScenarioFolder()
        let result = try await folder.run(
            [
                "model": "model.json",
                "steps": [
                    ["sync": [["id": 1, "songs": [["id": "a"], ["id": "b"]]]], "entity": "Band"],
                    ["sync": [["id": 1, "songs": [["id": "b"]]]], "entity": "Band", "changes": ["updated": 1]],
                    ["expect": ["songs": ["ids": ["b"]]], "entity": "Band"],
                ],
            ], options: .init(repeatsSyncs: true))
        #expect(result?.outcome == .passed, "\(result?.description ?? "")")
    }

    @Test("Composite keys are compared by the types of their parts, and an update returns them")
    func compositeKeys() async throws {
        let folder = try ScenarioFolder(
            model: """
                { "entities": {
                  "Price": {
                    "primaryKey": ["shop", "amount"],
                    "attributes": { "shop": "string", "amount": "decimal", "note": "string" } },
                  "Offer": {
                    "attributes": { "id": "integer" }, "relationships": { "prices": { "entity": "Price", "many": true } } } } }
                """)
        let prices: JSONValue = [["a", .number("3.50")]]
        let sync: JSONValue = ["sync": [["id": 1, "prices": [["a", .number("3.5")]]]], "entity": "Offer"]
        let update: JSONValue = ["entity": "Price", "id": ["a", .number("3.5")], "values": ["note": "x"]]
        for (ids, returned, step) in [
            (prices, ["a", .number("3.5")], nil), ([["a", "3.5"]], ["a", .number("3.5")], 3),
            ([["a"]], ["a", .number("3.5")], 3), (prices, nil, 4), (prices, ["a", .number("4")], 4),
        ] as [(JSONValue, JSONValue, Int?)] {
            let result = try await folder.run([
                "model": "model.json",
                "steps": [
                    ["sync": [["shop": "a", "amount": .number("3.5")]], "entity": "Price"], sync,
                    ["expect": ["prices": ["ids": ids]], "entity": "Offer"],
                    ["update": update, "returns": returned],
                ],
            ])
            #expect(result?.failures.map(\.step) == (step.map { [$0] } ?? []), "\(result?.description ?? "")")
        }
    }
}
