import Foundation
import Testing

@testable import SyncTesting

@Suite("What the test kit's errors say of themselves")
struct ErrorDescriptionTests {
    @Test(
        "localizedDescription is in words",
        arguments: [
            (ScenarioError("unknown step", step: 3), "step 3: unknown step"), (ScenarioError("no steps"), "no steps"),
            (
                ScenarioReport.Failure(step: 2, expected: "8", found: "7", message: "count of User"),
                "step 2: count of User: expected 8, found 7"
            ),
            (Mismatch(path: "company.name", expected: "A", found: "B"), "company.name: expected A, found B"),
        ] as [(any Error, String)])
    func words(error: any Error, text: String) { #expect(error.localizedDescription == text) }
}
