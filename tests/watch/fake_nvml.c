/* A library with the symbols of libnvidia-ml.so.1 that a watch calls, for tests on machines without NVIDIA's driver.
 *
 * Values are lines `WHERE.NAME NUMBER` of the file that RIGUP_FAKE_NVML names, read anew at every call, so that a test
 * moves them by writing it. WHERE is a GPU's index or `sys`. `lost 1` of a GPU: every call about it says so.
 * `proc.PID GPU BYTES SM` is a process. A value that does not stand there is not supported.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OK, UNINITIALIZED, BAD_ARGUMENT, NOT_SUPPORTED, NO_PERMISSION, NOT_FOUND = 6, TOO_SMALL, NO_DRIVER = 9, TIMEOUT = 10, LOST = 15 };
typedef unsigned int U;
typedef unsigned long long L;

static int devices[64], up;

static int find(const char *where, const char *name, char *out) {
    char line[512], key[128], wanted[128];
    FILE *file = fopen(getenv("RIGUP_FAKE_NVML") ? getenv("RIGUP_FAKE_NVML") : "", "r");
    int found = 0;
    if (!file) return 0;
    snprintf(wanted, sizeof wanted, "%s.%s", where, name);
    while (fgets(line, sizeof line, file)) {
        char *value = strchr(line, ' ');
        if (!value) continue;
        *value++ = 0;
        value[strcspn(value, "\n")] = 0;
        snprintf(key, sizeof key, "%s", line);
        if (!strcmp(key, wanted)) { strcpy(out, value); found = 1; }
    }
    fclose(file);
    return found;
}
static int number(void *device, const char *name, L *out) {
    char where[16], text[512];
    snprintf(where, sizeof where, "%d", *(int *)device);
    if (!up) return UNINITIALIZED;
    if (find(where, "lost", text)) return LOST;
    if (find(where, "hang", text)) sleep(atoi(text));
    if (!find(where, name, text)) return NOT_SUPPORTED;
    *out = strtoull(text, 0, 0);
    return OK;
}
static int word(void *device, const char *name, U *out) { L value = 0; int code = number(device, name, &value); if (!code) *out = (U)value; return code; }
static int text(void *device, const char *name, char *out, U room) {
    char where[16], value[512];
    snprintf(where, sizeof where, "%d", *(int *)device);
    if (!find(where, name, value)) return NOT_SUPPORTED;
    snprintf(out, room, "%s", value);
    return OK;
}
int nvmlInit_v2(void) { char value[512]; if (!find("sys", "gpus", value)) return NO_DRIVER; up = 1; return OK; }
int nvmlShutdown(void) { up = 0; return OK; }
const char *nvmlErrorString(int code) { return code == LOST ? "GPU is lost" : code == NO_DRIVER ? "Driver Not Loaded" : "Some Error"; }
int nvmlSystemGetDriverVersion(char *out, U room) { char value[512]; if (!find("sys", "driver", value)) return NOT_SUPPORTED; snprintf(out, room, "%s", value); return OK; }
int nvmlDeviceGetCount_v2(U *out) { char value[512]; if (!find("sys", "gpus", value)) return NO_DRIVER; *out = (U)atoi(value); return OK; }
int nvmlDeviceGetHandleByIndex_v2(U index, void **out) { devices[index] = (int)index; *out = &devices[index]; return OK; }
int nvmlDeviceGetHandleByPciBusId_v2(const char *address, void **out) {
    for (U index = 0; index < 64; index++) {
        char where[16], value[512];
        snprintf(where, sizeof where, "%u", index);
        if (find(where, "pci", value) && strstr(value, address)) return nvmlDeviceGetHandleByIndex_v2(index, out);
    }
    return NOT_FOUND;
}
int nvmlDeviceGetName(void *d, char *out, U room) { return text(d, "name", out, room); }
int nvmlDeviceGetUUID(void *d, char *out, U room) { return text(d, "uuid", out, room); }
int nvmlDeviceGetPciInfo_v3(void *d, char *out) { memset(out, 0, 68); return text(d, "pci", out + 36, 32); }
int nvmlDeviceGetCudaComputeCapability(void *d, int *a, int *b) { char value[512] = ""; int code = text(d, "capability", value, 512); if (!code) sscanf(value, "%d.%d", a, b); return code; }
int nvmlDeviceGetUtilizationRates(void *d, U *out) { int code = word(d, "util", out); if (!code && word(d, "memutil", out + 1)) out[1] = 0; return code; }
int nvmlDeviceGetMemoryInfo_v2(void *d, L *out) {
    L total, used, reserved = 0;
    int code = number(d, "mem_total", &total);
    if (code || (code = number(d, "mem_used", &used))) return code;
    number(d, "mem_reserved", &reserved);
    out[1] = total; out[2] = reserved; out[3] = total - used - reserved; out[4] = used;
    return OK;
}
int nvmlDeviceGetTemperature(void *d, U sensor, U *out) { return sensor ? BAD_ARGUMENT : word(d, "temp", out); }
int nvmlDeviceGetTemperatureThreshold(void *d, U kind, U *out) { return kind == 1 ? word(d, "temp_limit", out) : NOT_SUPPORTED; }
int nvmlDeviceGetPowerUsage(void *d, U *out) { return word(d, "power", out); }
int nvmlDeviceGetEnforcedPowerLimit(void *d, U *out) { return word(d, "power_limit", out); }
int nvmlDeviceGetTotalEnergyConsumption(void *d, L *out) { return number(d, "energy", out); }
int nvmlDeviceGetFanSpeed(void *d, U *out) { return word(d, "fan", out); }
int nvmlDeviceGetClockInfo(void *d, U kind, U *out) { return word(d, kind == 2 ? "clock_memory" : "clock", out); }
int nvmlDeviceGetCurrentClocksThrottleReasons(void *d, L *out) { return number(d, "throttle", out); }
int nvmlDeviceGetCurrPcieLinkWidth(void *d, U *out) { return word(d, "width", out); }
int nvmlDeviceGetMaxPcieLinkWidth(void *d, U *out) { return word(d, "width_max", out); }
int nvmlDeviceGetCurrPcieLinkGeneration(void *d, U *out) { return word(d, "generation", out); }
int nvmlDeviceGetPcieThroughput(void *d, U which, U *out) { return word(d, which ? "rx" : "tx", out); }
int nvmlDeviceGetMigMode(void *d, U *now, U *pending) { *pending = 0; return word(d, "mig", now); }
int nvmlDeviceGetMaxMigDeviceCount(void *d, U *out) { return word(d, "mig", out); }
int nvmlDeviceGetMigDeviceHandleByIndex(void *d, U index, void **out) { devices[40 + index] = 40 + (int)index; *out = &devices[40 + index]; (void)d; return OK; }
int nvmlDeviceGetGpuInstanceId(void *d, U *out) { return word(d, "instance", out); }
int nvmlDeviceGetComputeInstanceId(void *d, U *out) { *out = 0; (void)d; return OK; }
typedef struct { U pid; L bytes; U gi, ci; } Process;
typedef struct { U pid; L time; U sm, memory, encoder, decoder; } Use;
static int processes(void *d, Process *out, Use *uses, U *count) {
    char line[512];
    FILE *file = fopen(getenv("RIGUP_FAKE_NVML"), "r");
    U found = 0, pid, gpu, sm, gi;
    L bytes;
    if (!file) return NO_DRIVER;
    while (fgets(line, sizeof line, file)) {
        int read = sscanf(line, "proc.%u %u %llu %u %u", &pid, &gpu, &bytes, &sm, &gi);
        if (read < 4 || (int)gpu != *(int *)d || found >= *count) continue;
        if (out) { out[found].pid = pid; out[found].bytes = bytes; out[found].gi = read > 4 ? gi : 0xFFFFFFFFu; out[found].ci = 0; }
        if (uses) { memset(uses + found, 0, sizeof *uses); uses[found].pid = pid; uses[found].time = 1; uses[found].sm = sm; }
        found++;
    }
    fclose(file);
    *count = found;
    return OK;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void *d, U *count, Process *out) { return processes(d, out, 0, count); }
int nvmlDeviceGetProcessUtilization(void *d, Use *out, U *count, L since) { (void)since; return processes(d, 0, out, count); }
typedef struct { void *device; L type, data; U gi, ci; } Event;
int nvmlEventSetCreate(void **out) { static int set; *out = &set; return OK; }
int nvmlDeviceRegisterEvents(void *d, L mask, void *set) { (void)d; (void)mask; (void)set; return OK; }
int nvmlEventSetWait_v2(void *set, Event *out, U milliseconds) {
    static int told;
    char value[512];
    (void)set; (void)milliseconds;
    if (told || !find("sys", "xid", value)) return TIMEOUT;
    told = 1;
    devices[0] = 0;
    out->device = &devices[0]; out->type = 8; out->data = strtoull(value, 0, 0);
    return OK;
}
