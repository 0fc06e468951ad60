// Go's net/http, as Go programmers use it.
//
// GoClient ACTION URL FILE REQUESTS WARM-UP IN-FLIGHT CONNECTIONS
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

type record struct {
	Answer   int
	Name     string
	Email    string
	IsActive bool
	Score    float64
	Tags     []string
	About    string
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "GoClient:", err)
		os.Exit(1)
	}
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	check(err)
	return value
}

// perform makes one request and returns what the driver checks.
func perform(client *http.Client, action, url, path string) int64 {
	method := http.MethodGet
	var body io.Reader
	var length int64
	if action == "upload" {
		file, err := os.Open(path)
		check(err)
		defer file.Close()
		status, err := file.Stat()
		check(err)
		method, body, length = http.MethodPut, file, status.Size()
	}
	request, err := http.NewRequest(method, url, body)
	check(err)
	request.ContentLength = length
	response, err := client.Do(request)
	check(err)
	defer response.Body.Close()
	if response.StatusCode > 299 {
		check(fmt.Errorf("the server answered %s", response.Status))
	}
	switch action {
	case "get":
		bytes, err := io.ReadAll(response.Body)
		check(err)
		return int64(len(bytes))
	case "decode":
		bytes, err := io.ReadAll(response.Body)
		check(err)
		var value record
		check(json.Unmarshal(bytes, &value))
		return int64(value.Answer)
	case "download":
		file, err := os.Create(path)
		check(err)
		count, err := io.Copy(file, response.Body)
		check(err)
		check(file.Close())
		return count
	case "discard":
		count, err := io.Copy(io.Discard, response.Body)
		check(err)
		return count
	}
	_, err = io.Copy(io.Discard, response.Body)
	check(err)
	return length
}

// run makes the requests in so many goroutines, each its share one after the other.
func run(requests, inFlight int, perform func() int64) int64 {
	var group sync.WaitGroup
	yields := make([]int64, inFlight)
	for index := range yields {
		group.Add(1)
		go func(index int) {
			defer group.Done()
			for count := (requests + index) / inFlight; count > 0; count-- {
				yields[index] += perform()
			}
		}(index)
	}
	group.Wait()
	var sum int64
	for _, yield := range yields {
		sum += yield
	}
	return sum
}

// usage returns the processor time in seconds, and the voluntary context switches.
func usage() (float64, int64) {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds(), usage.Nvcsw
}

func peakKilobytes() int {
	status, err := os.ReadFile("/proc/self/status")
	check(err)
	for _, line := range strings.Split(string(status), "\n") {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "VmHWM:" {
			return number(fields[1])
		}
	}
	return 0
}

func main() {
	if len(os.Args) != 8 {
		os.Exit(64)
	}
	action, url, path := os.Args[1], os.Args[2], os.Args[3]
	requests, warmUp := number(os.Args[4]), number(os.Args[5])
	inFlight, connections := number(os.Args[6]), number(os.Args[7])
	client := &http.Client{Transport: &http.Transport{
		MaxConnsPerHost:     connections,
		MaxIdleConns:        connections,
		MaxIdleConnsPerHost: connections,
	}}
	once := func() int64 { return perform(client, action, url, path) }

	run(warmUp, inFlight, once)
	start := time.Now()
	cpuStart, switchesStart := usage()
	yield := run(requests, inFlight, once)
	cpuEnd, switchesEnd := usage()
	fmt.Printf("{\"requests\":%d,\"yield\":%d,\"seconds\":%f,\"cpuSeconds\":%f,\"switches\":%d,\"peakKilobytes\":%d}\n",
		requests, yield, time.Since(start).Seconds(), cpuEnd-cpuStart, switchesEnd-switchesStart, peakKilobytes())
}
