import Foundation
import SyncCore
import Testing

@testable import SyncTesting

@Suite("Decoding of scenario files")
struct ScenarioDecodingTests {
    static func step(_ text: String) throws -> ScenarioStep {
        try ScenarioStep(try JSONValue(parsing: Data(text.utf8)))
    }

    @Test(
        "Each form of a step has its kind",
        arguments: [
            (#"{"sync": "a.json", "entity": "E", "operations": ["insert"], "where": "a == 1", "key": "a.b"}"#, .sync),
            (#"{"sync": [], "entity": "E", "parent": {"entity": "P", "id": 1}, "changes": {"deleted": 1}}"#, .sync),
            (#"{"sync": [], "entity": "E", "dryRun": true, "options": {"scope": "all", "maxDelete": "50%"}}"#, .sync),
            (#"{"sync": [[], []], "entity": "E", "pages": true}"#, .sync),
            (#"{"sync": [], "entity": "E", "options": {"payload": "delta"}}"#, .sync),
            (#"{"insert": {"entity": "E", "values": {}}}"#, .insert),
            (#"{"fill": {"entity": "E", "values": {}}, "noWrites": true}"#, .fill),
            (#"{"fill": {"entity": "E", "values": {}, "where": "a == 1"}}"#, .fill),
            (#"{"insertOrUpdate": {"entity": "E", "values": {}}, "expectError": "no key"}"#, .insertOrUpdate),
            (#"{"update": {"entity": "E", "id": 1, "values": {}}, "returns": null}"#, .update),
            (#"{"delete": {"entity": "E", "id": 1}}"#, .delete),
            (#"{"fetch": {"entity": "E", "id": 1}, "is": null}"#, .fetch),
            (#"{"expectCount": 1, "entity": "E", "where": "a == 1"}"#, .expectCount),
            (#"{"expect": {}, "entity": "E"}"#, .expect),
            (#"{"export": {"entity": "E", "options": {"relationships": "nested"}}, "is": {}}"#, .export),
            (#"{"export": {"entity": "E"}, "is": [], "ordered": true}"#, .export),
            (#"{"reopen": {"model": "m"}}"#, .reopen), (#"{"drop": true}"#, .drop),
        ] as [(String, ScenarioStep.Kind)])
    func kinds(_ text: String, _ kind: ScenarioStep.Kind) throws {
        #expect(try Self.step(text).kind == kind)
    }

    @Test(
        "A step with an unknown, missing or malformed field is rejected",
        arguments: [
            "5", "{}", #"{"plan": []}"#, #"{"sync": [], "entity": "E", "expectCount": 1}"#,
            #"{"sync": [], "entity": "E", "were": "a == 1"}"#, #"{"sync": []}"#, #"{"sync": [], "entity": 5}"#,
            #"{"sync": [], "entity": "E", "entity": "F"}"#,
            #"{"sync": [], "entity": "E", "operations": ["upsert"]}"#, #"{"sync": [], "entity": "E", "changes": {}}"#,
            #"{"sync": [], "entity": "E", "changes": {"insert": 1}}"#,
            #"{"sync": [], "entity": "E", "result": {}}"#, #"{"sync": [], "entity": "E", "result": []}"#,
            #"{"sync": [], "entity": "E", "options": {"scope": "some"}}"#,
            #"{"sync": [], "entity": "E", "options": {"payload": "page"}}"#,
            #"{"sync": [], "entity": "E", "options": {"maxDelete": "many"}}"#,
            #"{"sync": [], "entity": "E", "options": {"strickt": true}}"#,
            #"{"sync": [], "entity": "E", "parent": {"entity": "P"}}"#,
            #"{"sync": [], "entity": "E", "parent": {"entity": "P", "id": 1}, "relationship": "r"}"#,
            #"{"sync": [], "entity": "E", "noWrites": "yes"}"#, #"{"insert": {"entity": "E"}}"#,
            #"{"insert": {"entity": "E", "values": {}, "id": 1}}"#, #"{"fetch": {"entity": "E", "id": 1}}"#,
            #"{"insert": {"entity": "E", "values": {}}, "returns": 1}"#, #"{"expectCount": "1", "entity": "E"}"#,
            #"{"expectCount": 1.5, "entity": "E"}"#, #"{"expect": null, "entity": "E"}"#,
            #"{"export": {"entity": "E", "options": {"case": "shouted"}}, "is": {}}"#, #"{"export": {"entity": "E"}}"#,
            #"{"drop": false}"#, #"{"reopen": {}}"#,
        ])
    func invalidSteps(_ text: String) {
        #expect(throws: ScenarioError.self) { try Self.step(text) }
    }

    @Test(
        "A sync with fields that the library cannot apply together is rejected",
        arguments: [
            (#""entities": {"a": "A"}, "where": "id == 1""#, "'where' and 'parent' of the step"),
            (#""entities": {"a": "A"}, "parent": {"entity": "P", "id": 1}"#, "'where' and 'parent' of the step"),
            (#""entity": "A", "pages": true, "options": {"payload": "delta"}"#, "the payload 'delta'"),
            (#""entity": "A", "pages": true, "dryRun": true"#, "'dryRun' of the step"),
        ])
    func conflictingFields(_ fields: String, _ message: String) throws {
        let text = #"{"name": "a", "model": "m", "steps": [{"drop": true}, {"sync": [], \#(fields)}]}"#
        let error = #expect(throws: ScenarioError.self) { try Scenario(try JSONValue(parsing: Data(text.utf8))) }
        #expect(error?.description.contains("\(message) cannot be used with") == true)
        #expect(error?.step == 2)
    }

    @Test(
        "A case with an unknown, missing or malformed field is rejected",
        arguments: [
            #"{"name": "a", "model": "m", "steps": []}"#, #"{"name": "a", "steps": [{"drop": true}]}"#,
            #"{"name": "a", "model": "m"}"#, #"{"model": "m", "steps": [{"drop": true}]}"#,
            #"{"name": "a", "model": "m", "steps": [{"drop": true}], "skip": true}"#,
            #"{"name": "a", "model": "m", "steps": [{"drop": true}], "needs": "onDisk"}"#,
            #"{"name": "a", "model": "m", "steps": [{"drop": true}], "hook": {}}"#,
            #"{"name": "a", "function": "upperCase", "in": "a", "out": "A"}"#,
            #"{"name": "a", "function": "snakeCase", "in": "a"}"#,
            #"{"name": "a", "function": "snakeCase", "in": "a", "out": "a", "steps": []}"#,
            #"{"name": "a", "function": "parseDate", "in": "a"}"#,
            #"{"name": "a", "function": "rootScope", "entity": "E", "out": null}"#,
            #"{"name": "a", "model": "m", "function": "primaryKey", "entity": "E", "local": null}"#,
        ])
    func invalidCases(_ text: String) throws {
        let json = try JSONValue(parsing: Data(text.utf8))
        #expect(throws: ScenarioError.self) { try Scenario(json) }
    }

    @Test("The error of an invalid step has its number")
    func stepNumber() throws {
        let text = #"{"name": "a", "model": "m", "steps": [{"drop": true}, {"drop": true, "why": 1}]}"#
        let error = #expect(throws: ScenarioError.self) { try Scenario(try JSONValue(parsing: Data(text.utf8))) }
        #expect(error == ScenarioError("the step has the unknown field 'why'", step: 2))
    }

    @Test(
        "The name of a need ends before a colon and a space",
        arguments: [
            ("onDisk", "onDisk"), ("onDisk: run with a store file", "onDisk"),
            ("valueTransformer:Date", "valueTransformer:Date"),
            ("valueTransformer:Date: import turns: x", "valueTransformer:Date"),
        ])
    func needs(_ need: String, _ name: String) {
        #expect(Scenario.needName(need) == name)
    }

    @Test("Paths are relative to the folder above 'cases', or else to the folder of the file")
    func paths() throws {
        let json: JSONValue = ["format": 1, "cases": [["name": "a"]]]
        let inCases = try ScenarioFile(json, at: URL(fileURLWithPath: "/a/cases/b.json"))
        #expect(inCases.url(of: "models/m.json").path == "/a/models/m.json")
        let own = try ScenarioFile(json, at: URL(fileURLWithPath: "/a/other/b.json"))
        #expect(own.url(of: "../m.json").path == "/a/m.json")
        #expect(own.url(of: "/m.json").path == "/m.json")
    }

    @Test(
        "A file with an unknown, missing or malformed field is rejected",
        arguments: [
            [], ["cases": []], ["format": 2, "cases": [["name": "a"]]], ["format": 1], ["format": 1, "cases": []],
            ["format": 1, "cases": [["name": "a"]], "models": []],
        ] as [JSONValue])
    func invalidFiles(_ json: JSONValue) {
        #expect(throws: ScenarioError.self) { try ScenarioFile(json, at: URL(fileURLWithPath: "/a.json")) }
    }

    @Test("The second of two cases with one name fails")
    func repeatedNames() throws {
        let one: JSONValue = ["name": "a", "function": "snakeCase", "in": "a", "out": "a"]
        let file = try ScenarioFile(["format": 1, "cases": [one, one]], at: URL(fileURLWithPath: "/a.json"))
        #expect(file.entries.map { (try? $0.scenario.get()) != nil } == [true, false])
    }
}
