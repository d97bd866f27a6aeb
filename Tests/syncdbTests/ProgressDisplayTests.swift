import Foundation
import Sync
import Testing

@testable import syncdb

@Suite("The progress line")
struct ProgressDisplayTests {
    /// A manual clock, and the lines that were drawn.
    ///
    /// `@unchecked Sendable`: the variables are only touched while `lock` is held.
    private final class World: @unchecked Sendable {
        private let lock = NSLock()
        private var time = 100.0
        private var lines: [String] = []

        var now: Double { lock.withLock { time } }
        var drawn: [String] { lock.withLock { lines } }

        func wait(_ seconds: Double) { lock.withLock { time += seconds } }
        func draw(_ line: String) { lock.withLock { lines.append(line) } }
        func display() -> ProgressDisplay { ProgressDisplay(now: { self.now }, draw: { self.draw($0) }) }
    }

    private func line(_ rows: Int) -> ProgressLine { ProgressLine(SyncProgress(.comparing, completed: rows)) }

    @Test("A short operation draws and clears no progress line")
    func shortWorkDrawsNothing() {
        let world = World()
        let display = world.display()
        for rows in 1...10 { display.show(line(rows)) }
        world.wait(ProgressDisplay.delay / 2)
        display.show(line(11))
        display.clear()
        #expect(world.drawn == [])
    }

    @Test("A long operation draws a progress line after a delay, then at intervals, and clears it once")
    func longWorkDrawsALine() {
        let world = World()
        let display = world.display()
        world.wait(ProgressDisplay.delay)
        display.show(line(1))
        display.show(line(2))
        world.wait(ProgressDisplay.interval / 2)
        display.show(line(3))
        world.wait(ProgressDisplay.interval)
        display.show(line(4))
        display.clear()
        display.clear()
        let rows = world.drawn.map { $0.split(separator: " ").dropFirst().first.map(String.init) }
        #expect(rows == ["1", "4", nil])
    }

    @Test("A progress line has the speed since the beginning of its phase")
    func speedIsOfThePhase() {
        let world = World()
        let display = world.display()
        display.show(ProgressLine(SyncProgress(.mapping, completed: 1, total: 1)))
        world.wait(10)
        display.show(line(0))
        world.wait(2)
        display.show(line(4096))
        #expect(world.drawn.last == "comparing     4096 rows, 2048/s")
    }

    @Test("A message is drawn at once in place of the progress line, which then returns")
    func messageReplacesTheLine() {
        let world = World()
        let display = world.display()
        display.say("waiting 4 s: busy")
        #expect(world.drawn == ["waiting 4 s: busy"])
        display.show(line(1))
        display.clear()
        #expect(world.drawn.count == 3 && world.drawn.last == "")
    }
}
