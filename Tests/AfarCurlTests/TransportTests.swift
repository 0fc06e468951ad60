import TestServers
import Testing

/// Tests that meet real servers. One at a time: many of them watch the clock, and two cores are soon busy.
@Suite(OverEachTransport(), .serialized, .timeLimit(.minutes(1)))
enum TransportTests {}
