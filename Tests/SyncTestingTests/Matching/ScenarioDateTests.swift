import Foundation
import Testing

@testable import SyncTesting

@Suite("Dates in scenarios")
struct ScenarioDateTests {
    @Test(
        "A date in a scenario is read as milliseconds since 1970 and written back",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("1969-12-31T23:59:59.999Z", -1), ("2000-02-29T00:00:00Z", 951_782_400_000),
            ("2015-06-23T12:40:08.123Z", 1_435_063_208_123), ("0001-01-01T00:00:00Z", -62_135_596_800_000),
            ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
        ] as [(String, Int64)])
    func milliseconds(_ text: String, _ milliseconds: Int64) throws {
        #expect(ScenarioDate.milliseconds(text) == milliseconds)
        #expect(ScenarioDate.text(try #require(ScenarioDate.date(text))) == text)
    }

    @Test(
        "A date in a scenario may have a shorter fraction", arguments: [("T00:00:00.5Z", 500), ("T00:00:00.07Z", 70)])
    func fraction(_ text: String, _ milliseconds: Int64) {
        #expect(ScenarioDate.milliseconds("1970-01-01" + text) == milliseconds)
    }

    @Test(
        "A date in a scenario has only one form",
        arguments: [
            "", "1970-01-01", "1970-01-01T00:00:00", "1970-01-01 00:00:00Z", "1970-01-01T00:00:00+00:00",
            "1970-13-01T00:00:00Z", "1970-01-01T24:00:00Z", "1970-01-01T00:00:00.1234Z", "x1970-01-01T00:00:00Z",
        ])
    func invalidDates(_ text: String) {
        #expect(ScenarioDate.milliseconds(text) == nil)
    }
}
