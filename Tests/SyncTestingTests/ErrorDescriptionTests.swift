import Foundation
import Testing

@testable import SyncTesting

@Suite("Error descriptions of the test kit")
struct ErrorDescriptionTests {
    @Test(
        "The localizedDescription of each error is its message",
        arguments: [
            (ScenarioError("unknown step", step: 3), "step 3: unknown step"), (ScenarioError("no steps"), "no steps"),
            (
                ScenarioReport.Failure(step: 2, expected: "8", found: "7", message: "count of User"),
                "step 2: count of User: expected 8, found 7"
            ),
            (Mismatch(path: "company.name", expected: "A", found: "B"), "company.name: expected A, found B"),
        ] as [(any Error, String)])
    func messages(error: any Error, text: String) { #expect(error.localizedDescription == text) }
}
